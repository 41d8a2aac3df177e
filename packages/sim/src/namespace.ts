/** The one namespace that simulated handoffs live in. */

export const namespace = "default";

/** How the reference relay is started to keep what has ended for seconds only. */

export const short_lived_flags = ["--keep-taken", "1s", "--keep-untaken", "10s", "--keep-events", "1s"];

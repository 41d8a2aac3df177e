export { type Contract, type ContractsOptions, listContracts, readContract } from "./contract.ts";
export { type FindOptions, type Found, find } from "./find.ts";
export type { Need } from "./need.ts";
export {
  type Declined,
  type NegotiateOptions,
  type Negotiation,
  negotiate,
  type Offer,
  type TermsNeeded,
} from "./negotiate.ts";

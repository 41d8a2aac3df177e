/** Why a relay, or one of its promises, cannot be tried: that says nothing about whether it keeps them. */

/** Something answers there, or takes the call and says nothing, and it is no relay. */
export class NoRelay extends Error {
  override name = "NoRelay";
}

/** The relay lets none of the suite's agents in. */
export class NotAdmitted extends Error {
  override name = "NotAdmitted";
  /** An operator's token would help, the one that was given was refused, or it is neither. */
  readonly why: "token_needed" | "token_refused" | "registration_fails";

  constructor(why: NotAdmitted["why"], message: string) {
    super(message);
    this.why = why;
  }
}

/** What was given to kill the relay and start it again did not do so. */
export class NotRestarted extends Error {
  override name = "NotRestarted";
}

/** A sentence for the person: what was given, and what is possible. */
export class Refused extends Error {}

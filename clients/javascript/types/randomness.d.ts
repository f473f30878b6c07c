/** A fresh word: a uniform integer from 0 to 2^52 − 1. It is given out once and then erased. */
export function freshWord(): number;

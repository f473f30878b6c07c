// Words of 52 random bits from the system's cryptographic generator.

const AT_ONCE = 1024; // words; a call of the generator costs far more than the bits it gives
const halves = new Uint32Array(2 * AT_ONCE);
let left = 0;

/** A fresh word: a uniform integer from 0 to 2^52 − 1. It is given out once and then erased. */
export function freshWord() {
  if (left === 0) {
    crypto.getRandomValues(halves);
    left = AT_ONCE;
  }
  left--;
  const word = (halves[2 * left] >>> 12) * 2 ** 32 + halves[2 * left + 1];
  halves[2 * left] = halves[2 * left + 1] = 0;
  return word;
}

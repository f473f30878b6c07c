/**
 * @param {string} text
 * @returns {Tree}
 */
export function treeOf(text: string): Tree;
/**
 * What stands in the text: integers are bigints, other numbers are numbers.
 */
export type Tree = null | boolean | string | number | bigint | any[] | Map<string, any>;

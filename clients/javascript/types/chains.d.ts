/**
 * The tables of a chain.
 * @param {Map<string, Tree>} tree
 * @returns {import("./format.js").Table}
 */
export function chainOf(tree: Map<string, Tree>): import("./format.js").Table;
/**
 * What a file says of a stage.
 */
export type Found = {
    column: Tree;
    /**
     * the labels of its values
     */
    own: Label[];
    outputs: Label[];
    /**
     * of a stage that is not drawn, none
     */
    numerators: bigint[][][][];
    fixed?: (() => bigint[][][][]) | undefined;
    readsSecret?: boolean | undefined;
    /**
     * of an earlier release: whether people may have had no part in it
     */
    absent?: boolean | undefined;
};
export type Tree = import("./json.js").Tree;
export type Label = import("./labels.js").Label;
export type Scalar = import("./labels.js").Scalar;

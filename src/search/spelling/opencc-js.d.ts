/** The package has types for its converters alone, and none for its tables of characters. */
declare module "opencc-js/dict/*" {
  // biome-ignore lint/style/noDefaultExport: the package exports its tables so
  export default "" as string
}

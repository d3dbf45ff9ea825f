/** Pages: what people see in a browser, with the scripts and styles that the pages use. */
export { type Assets, type BuiltAssets, buildAssets, createAssets } from './assets'

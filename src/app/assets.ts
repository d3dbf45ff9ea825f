import { type BuiltAssets, buildAssets, createAssets } from '../pages'
import { ASSETS, bundled } from './bundle'

/** The files of the pages: as they were made with the server's bundle, or made now from the sources. */
export const openAssets = () => createAssets(readOrBuild)

async function readOrBuild(): Promise<BuiltAssets> {
  const file = bundled(ASSETS)
  return file ? (Bun.file(file).json() as Promise<BuiltAssets>) : buildAssets()
}

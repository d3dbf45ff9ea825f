import type { ConfigOverrides } from '../src/app/config'
import type { Shell } from './shell'
import { fromHere } from './transport'

/** What the flags of every command say about configuration; flags win over everything (dx 2.3). */
export const overridesOf = ({ globals, cwd }: Pick<Shell, 'globals' | 'cwd'>): ConfigOverrides => ({
  ...(globals.config ? { configFile: fromHere(cwd, globals.config) } : {}),
  ...(globals.dataDir ? { dataDir: fromHere(cwd, globals.dataDir) } : {}),
})

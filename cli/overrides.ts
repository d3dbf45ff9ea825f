import type { ConfigOverrides } from '../src/app/config'
import type { Shell } from './shell'
import { fromHere } from './transport'

/** Configuration set by global flags, which override every other source (dx 2.3). */
export const overridesOf = ({ globals, cwd, env }: Pick<Shell, 'globals' | 'cwd' | 'env'>): ConfigOverrides => ({
  userEnv: env,
  ...(globals.config ? { configFile: fromHere(cwd, globals.config) } : {}),
  ...(globals.dataDir ? { dataDir: fromHere(cwd, globals.dataDir) } : {}),
})

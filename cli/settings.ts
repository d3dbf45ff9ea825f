import type { Config } from '../src/app/config'
import type { Setting } from '../src/kernel/config'
import { withoutUserInfo } from '../src/kernel/text'
import { safeJson } from './output/json'
import { overridesOf } from './overrides'
import type { Shell } from './shell'

/** A setting as it is shown. */
export type Explained = { name: string; value: string; origin: string; env: string; default: string; about: string }

/** Every setting with its value and origin, as this shell has them; of a secret only whether it is set, and no password of an address. */
export async function settingsOf(shell: Shell): Promise<Explained[]> {
  const { loadConfig, SETTINGS } = await import('../src/app/config')
  const config: Config = loadConfig(overridesOf(shell))
  return Object.entries<Setting>(SETTINGS).map(([name, { env, about, secret, default: fallback }]) => ({
    name,
    value: shown(config[name as keyof typeof SETTINGS], secret),
    origin: config.origins[name] ?? 'default',
    env,
    default: shown(fallback, false),
    about,
  }))
}

function shown(value: unknown, secret: boolean | undefined): string {
  const text = typeof value === 'string' ? value : safeJson(value)
  if (secret) return value === '' || /^\{("\w+":\{\},?)*\}$/.test(text) ? 'not set' : 'set, not shown'
  return withoutUserInfo(text)
}

import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ConfigOverrides, Explained } from '../src/app/config'
import { conflictFailure, usageFailure } from './failure'
import type { Shell } from './shell'
import { fromHere } from './transport'

/** Configuration set by global flags, which override every other source (docs/operating.md 2.3). */
export const overridesOf = ({ globals, cwd, env }: Pick<Shell, 'globals' | 'cwd' | 'env'>): ConfigOverrides => ({
  userEnv: env,
  ...(globals.config ? { configFile: fromHere(cwd, globals.config) } : {}),
  ...(globals.dataDir ? { dataDir: fromHere(cwd, globals.dataDir) } : {}),
})

/** Every setting with its value and origin, as this shell sees them. */
export async function settingsOf(shell: Shell): Promise<Explained[]> {
  const { explain, loadConfig } = await import('../src/app/config')
  return explain(loadConfig(overridesOf(shell)))
}

/**
 * Writes settings to the configuration file, and removes undefined ones. Validates the resulting file first. @returns
 * its path, or null with `--dry-run`
 */
export async function changeSettings(
  shell: Shell,
  changes: Record<string, unknown>,
  ofUser = false,
): Promise<string | null> {
  const { resolveSettings } = await import('../src/kernel/config')
  const { SETTINGS } = await import('../src/app/config')
  const path = await configFileOf(shell, ofUser)
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '{}'
  const before = parsed(text, Bun.JSONC.parse, `${path} is not valid JSON. Correct it first.`)
  const all = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== undefined)
  const after = Object.fromEntries(all)
  resolveSettings(SETTINGS, {}, after)
  const [set, unset] = [true, false].map((isSet) =>
    Object.keys(changes)
      .filter((name) => (changes[name] !== undefined) === isSet)
      .join(', '),
  )
  const what = [set && `set ${set} in ${path}`, unset && `remove ${unset} from ${path}`].filter(Boolean).join(', ')
  if (shell.planned(what)) return null
  const snippet = JSON.stringify(changes, null, 2)
  const why = 'has comments, which would be lost if this command rewrote it. Add this to it yourself'
  parsed(text, JSON.parse, `${path} ${why}:\n${snippet}`)
  await writeConfigFile(path, after)
  return path
}

/** Path of the configuration file, whether or not it exists. With `ofUser`, the user's file for all servers. */
export async function configFileOf(shell: Shell, ofUser = false): Promise<string> {
  const { configPath, userConfigPath } = await import('../src/app/config')
  if (ofUser) {
    const path = userConfigPath(shell.env)
    if (path) return path
    throw usageFailure('There is no home folder to store settings in.', 'set XDG_CONFIG_HOME or HOME')
  }
  const { configFile } = overridesOf(shell)
  return configPath(configFile && fromHere(shell.cwd, configFile))
}

/** Returns the settings of a configuration file. @throws CommandFailed 5 with `problem` */
function parsed(text: string, parse: (text: string) => unknown, problem: string): object {
  try {
    return parse(text) as object
  } catch {
    throw conflictFailure(problem)
  }
}

/** Replaces the configuration file once it is fully written. Only its owner can read it: it may hold keys. */
export const writeConfigFile = (path: string, config: Record<string, unknown>): Promise<void> =>
  writeWhole(path, `${JSON.stringify(config, null, 2)}\n`)

/** Writes a file for its owner only. Writes it completely before it replaces the existing one. */
export async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const partial = `${path}.partial`
  await writeFile(partial, text, { mode: 0o600 })
  await chmod(partial, 0o600)
  await rename(partial, path)
}

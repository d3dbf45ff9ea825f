import { usageFailure } from './failure'
import { overridesOf } from './overrides'
import type { Shell } from './shell'
import { fromHere } from './transport'

/**
 * Writes settings to the configuration file, and takes out those that are undefined. The file as it would be is checked
 * before. @returns its path, or null with `--dry-run`
 */
export async function changeSettings(
  shell: Shell,
  changes: Record<string, unknown>,
  ofUser = false,
): Promise<string | null> {
  const { resolveSettings } = await import('../src/kernel/config')
  const { RETIRED, SETTINGS } = await import('../src/app/config')
  const { assertRewritable, readConfigFile, writeConfigFile } = await import('../src/kernel/config-file')
  const path = await configFileOf(shell, ofUser)
  const before = readConfigFile(path)
  const all = Object.entries({ ...before.config, ...changes }).filter(([, value]) => value !== undefined)
  const after = Object.fromEntries(all)
  resolveSettings(SETTINGS, {}, after, RETIRED)
  const [set, unset] = [true, false].map((isSet) =>
    Object.keys(changes)
      .filter((name) => (changes[name] !== undefined) === isSet)
      .join(', '),
  )
  const what = [set && `set ${set} in ${path}`, unset && `remove ${unset} from ${path}`].filter(Boolean).join(', ')
  if (shell.planned(what)) return null
  assertRewritable(before, changes)
  await writeConfigFile(path, after)
  return path
}

/** Where the configuration file is, or would be made; that of the user for all servers, when asked. */
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

import { existsSync } from 'node:fs'
import type { Explained } from '../../src/app/config'
import type { ConfigError, Setting } from '../../src/kernel/config'
import { didYouMean } from '../../src/kernel/nearest'
import { clean } from '../../src/kernel/text'
import { columnsOf, commandsOf } from '../command'
import { CheckFailed, usageFailure } from '../failure'
import { formatOf } from '../globals'
import { isStructured } from '../output/print'
import { readSecretInput } from '../secret'
import { changeSettings, configFileOf, overridesOf, settingsOf } from '../settings'
import type { Shell } from '../shell'
import { argument, flag, optional, text } from '../words'

const columns = columnsOf`
  name NAME, value VALUE, origin FROM, env ENVIRONMENT, default DEFAULT wide, about WHAT IT IS wide`

/** Another shell, with other variables, may have started the server. */
const OF_THIS_SHELL = 'Values are those of this shell. A running server keeps the settings it started with.'
const user = flag('your settings for all servers; svc.server.json overrides them')
const args = { name: argument('publicUrl, SVC_PUBLIC_URL, …') }
const command = commandsOf('config', { apis: ['host'], exits: [], columns, args })

const PROBLEMS = columnsOf`problem PROBLEM`
const pathColumns = columnsOf`path FILE, exists THERE flag`

const change = { impact: 'write', exits: [5, 10] } as const

/** Writes a setting, or removes it if `value` is undefined. */
async function rewrite(shell: Shell, name: string, value: unknown, ofUser: boolean): Promise<void> {
  const path = await changeSettings(shell, { [name]: value }, ofUser)
  if (path === null) return
  const { origin, env, ...rest } = await settingNamed(shell, name)
  shell.print.item({ ...rest, origin, env }, columns)
  const above = origin === 'environment' ? env : ofUser && origin === 'file' ? await configFileOf(shell) : null
  shell.note(above ? `${above} sets it too, and overrides ${path}.` : `Written to ${path}. ${OF_THIS_SHELL}`)
}

/** @throws CommandFailed 2 for an unknown setting */
async function declared(name: string) {
  const { SETTINGS } = await import('../../src/app/config')
  const all = Object.entries<Setting>(SETTINGS)
  const found = all.find(([own, { env }]) => own === name || env === name)
  if (found) return { ...found[1], name: found[0] }
  const names = all.flatMap(([own, { env }]) => [own, env])
  throw usageFailure(`There is no setting "${name}".${didYouMean(name, names)}`, 'svc-admin config list')
}

async function settingNamed(shell: Shell, name: string): Promise<Explained> {
  const { name: wanted } = await declared(name)
  return (await settingsOf(shell)).find((setting) => setting.name === wanted)!
}

export const configCommands = [
  command`list: List every setting with its value and where it came from
  A flag overrides the environment, which overrides svc.server.json. That overrides the file of --user, which overrides the default. Secrets are never printed, only whether they are set.
  $ config list
  $ config list --changed -o wide
  $ config list --json`({
    flags: { changed: flag('only settings that differ from the default') },
    async answer({ shell }, { changed }) {
      const all = await settingsOf(shell)
      return changed ? all.filter(({ origin }) => origin !== 'default') : all
    },
    empty: 'All settings have their defaults.',
    note: () => OF_THIS_SHELL,
  }),
  command`get NAME: Print the value of one setting and nothing else
  For scripts: prints one line, without the name. Secrets are not printed. config explain shows where the value comes from.
  $ config get publicUrl
  $ config get SVC_PORT`({
    async run(shell, { name }) {
      const found = await settingNamed(shell, name)
      if (isStructured(formatOf(shell.globals))) return shell.print.item(found, columns)
      shell.io.out(clean(found.value))
    },
  }),
  command`set NAME: Write one setting to the configuration file, after checking it
  Creates the file if it does not exist. VALUE is a word, a number, true, false or JSON. A secret is read from --from-file or stdin. A server uses the value from its next start.
  $ config set publicUrl https://svc.example
  $ config set redisUrl --from-file redis.txt`({
    ...change,
    args: { value: optional('the new value') },
    flags: { fromFile: text('FILE', 'the file that contains the value; - reads stdin'), user },
    async run(shell, { name, value, fromFile, user: ofUser }) {
      const { name: wanted, secret, schema } = await declared(name)
      if (secret && value !== undefined)
        throw usageFailure(`${wanted} is a secret. Leave the value out.`, `config set ${wanted} --from-file FILE`)
      if (value !== undefined && fromFile) throw usageFailure('Two values were given. Leave one out.')
      const instead = `config set ${wanted} --from-file FILE`
      const word = value ?? (await readSecretInput(shell, { label: `value of ${wanted}`, fromFile, instead }))
      const { readWord } = await import('../../src/kernel/config')
      await rewrite(shell, wanted, readWord(schema, word), ofUser)
    },
  }),
  command`unset NAME: Remove one setting from the configuration file
  The default applies again, unless the environment sets a value. A server uses it from its next start.
  $ config unset publicUrl
  $ config unset SVC_PORT --dry-run`({
    ...change,
    flags: { user },
    run: async (shell, { name, user: ofUser }) => rewrite(shell, (await declared(name)).name, undefined, ofUser),
  }),
  command`explain NAME: Explain one setting: meaning, value and source
  NAME is the name in svc.server.json, or the environment variable.
  $ config explain publicUrl
  $ config explain SVC_PORT --json`({
    answer: ({ shell }, { name }) => settingNamed(shell, name),
    note: () => OF_THIS_SHELL,
  }),
  command`path: Print the path of the configuration file
  --config and SVC_CONFIG choose it. The default is svc.server.json in the current folder.
  $ config path
  $ config path --user --json`({
    flags: { user },
    columns: pathColumns,
    async run(shell, { user: ofUser }) {
      const path = await configFileOf(shell, ofUser)
      if (formatOf(shell.globals) === 'table') return shell.io.out(clean(path))
      shell.print.item({ path, exists: existsSync(path) }, pathColumns)
    },
  }),
  command`check (exits 9): Check a configuration before you start a server with it
  Reads the file and this environment as the server does, and lists every problem. With --production it adds what a production start would refuse. Exits 9 when there is a problem.
  $ config check
  $ config check --production --config /etc/svc.server.json`({
    columns: PROBLEMS,
    flags: { production: flag('also check what a production start refuses') },
    async run(shell, { production }) {
      const { loadConfig } = await import('../../src/app/config')
      const problems: string[] = []
      try {
        const config = loadConfig({ ...overridesOf(shell), ...(production ? { production } : {}) })
        if (config.production) (await import('../../src/app/production')).assertMayServe(config)
      } catch (error) {
        if ((error as Error).name !== 'ConfigError') throw error
        problems.push(...(error as ConfigError).problems)
      }
      problems.push(...(await import('../../src/app/variables')).unknownVariables(shell.env))
      const rows = problems.map((problem) => ({ problem }))
      shell.print.list(rows, PROBLEMS, `${await configFileOf(shell)} and the environment have no problems.`)
      if (rows.length) throw new CheckFailed()
    },
  }),
]

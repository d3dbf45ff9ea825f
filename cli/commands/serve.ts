import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { columnsOf, commandsOf } from '../command'
import { BadWord, conflictFailure, usageFailure } from '../failure'
import { safeJson } from '../output/json'
import { overridesOf, writeConfigFile } from '../settings'
import { fromHere } from '../transport'
import { choice, choices, flag, optional, text, whole } from '../words'

const command = commandsOf('', { apis: ['host'], exits: [] })

const columns = columnsOf`config CONFIG, secrets SECRETS, made MADE list`

/** Steps before a production start, each with the doctor check that verifies it. */
const STEPS = [
  ['engines', 'svc-admin engines add NAME --kind compat --base-url URL --models MODEL'],
  ['public url', 'svc-admin config set publicUrl https://…'],
  ['database', 'svc-admin config set databaseUrl --from-file FILE, for several processes'],
  ['migrations', 'svc-admin migrate up'],
  ['config', 'svc-admin config check --production'],
  ['port', 'svc-admin serve --production --host 0.0.0.0'],
  ['secrets', 'store a copy of secrets.json away from the backups'],
  ['backups', 'svc-admin backup create --out FOLDER, every day'],
] as const

export const init = command`init (writes, exits 5): Write a configuration file and the secrets of a new server
  Writes svc.server.json and data/secrets.json, readable only by you. It replaces an existing configuration file only with --force, and it never replaces secrets. With --production it also lists the steps before a production start, each with the doctor check that covers it.
  $ init
  $ init /srv/svc --production --public-url https://svc.example
  $ init --print`({
  columns,
  args: { folder: optional('the folder to write to; the current folder by default') },
  flags: {
    publicUrl: text('URL', 'the address that clients use'),
    port: whole('N', 'port to listen on', { min: 0, max: 65_535 }),
    databaseFrom: text('FILE', 'file with the URL of a Postgres database; - reads stdin'),
    production: flag('list the steps before a production start'),
    print: flag('print the configuration file and write nothing'),
    force: flag('replace an existing configuration file; asks first'),
  },
  async run(shell, { folder = '.', publicUrl, port, databaseFrom, production, print, force }) {
    const { resolveSettings } = await import('../../src/kernel/config')
    const { SETTINGS } = await import('../../src/app/config')
    const { readTextFile } = await import('../files')
    const root = fromHere(shell.cwd, folder)
    const databaseUrl = databaseFrom && (await readTextFile(shell, databaseFrom)).trim()
    const wanted = { dataDir: join(root, 'data'), publicUrl, port, databaseUrl }
    const config = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined && value !== ''))
    resolveSettings(SETTINGS, {}, config)
    if (print) return shell.io.out(safeJson(config, 2))
    const file = join(root, 'svc.server.json')
    const isThere = existsSync(file)
    if (isThere && !force && Object.keys(config).length > 1)
      throw conflictFailure(
        `${file} already exists. Nothing was changed.`,
        'svc-admin config set NAME VALUE, or init --force',
      )
    const isStored = isThere && !force
    if (shell.planned(isStored ? `keep ${file}` : `write ${file} and the secrets of a new server`)) return
    if (isThere && force) shell.confirm(`Replace ${file}? Its current contents will be lost.`)
    const { loadSecrets } = await import('../../src/app/open')
    if (!isStored) await writeConfigFile(file, config)
    mkdirSync(wanted.dataDir, { recursive: true, mode: 0o700 })
    const secrets = loadSecrets(wanted.dataDir)
    const made = [...(isStored ? [] : [file]), ...(secrets.isNew ? [secrets.path] : [])]
    shell.print.item({ config: file, secrets: secrets.path, made }, columns)
    if (!production) return shell.note(`Start it: svc-admin serve --dev --config ${file}`)
    shell.note('Do these steps before svc-admin serve --production. svc-admin doctor shows which are done:')
    for (const [check, step] of STEPS) shell.note(`  ${check.padEnd(11)} ${step}`)
  },
})

/** A copy of the list in src/app/config, which a command that only prints help need not load. */
const ROLES = ['api', 'jobs', 'deliveries', 'browser'] as const

export const serve = command`serve: Run the server: the API, its loops and the operator socket
  Starts the server. It creates the data folder, the secrets and the database if they are missing. In dev mode the first start also creates an owner, an org and a key. Production mode starts only when every check passes; otherwise it lists each problem. Ctrl-C or SIGTERM stops the server after the running requests are answered. A second one ends them at once.
  $ serve --dev
  $ serve --production --host 0.0.0.0 --port 8080 --log-format json
  $ serve --roles jobs,deliveries`({
  flags: {
    dev: flag('development mode, even when NODE_ENV says production'),
    production: flag('production mode, with its checks'),
    host: {
      ...text('ADDRESS', 'address to listen on; 127.0.0.1 by default'),
      // An empty word, for example from an unset variable, would mean every network.
      read(word: string) {
        if (/^[^\s[\]/]+$/.test(word)) return word
        throw new BadWord(`is "${word}"; it must be an address such as 127.0.0.1, 0.0.0.0 or ::1`)
      },
    },
    port: whole('N', 'port to listen on; 3400 by default, 0 picks a free one', { min: 0, max: 65_535 }),
    unix: text('PATH', 'listen on a Unix socket instead of a port, for a proxy on this machine'),
    roles: choices(ROLES, 'what this process does; other processes on the same Postgres do the rest'),
    noBrowser: flag('no browser sessions in this process'),
    migrate: choice(
      ['auto', 'check', 'off'],
      'update an outdated schema, refuse to start with it, or leave it as it is',
    ),
    logFormat: choice(['pretty', 'json'], 'log lines for people or for programs'),
    newSecrets: flag('start even if secrets.json is lost; what it encrypted stays unreadable'),
    logLevel: choice(['debug', 'info', 'warn', 'error', 'silent'], 'the lowest level to log'),
  },
  action({ dev, production }) {
    if (!dev || !production) return 'run the server until it is stopped'
    throw usageFailure('--dev and --production exclude each other. Leave one out.')
  },
  async run(shell, { dev, production, newSecrets, roles, noBrowser, ...settings }) {
    const mode = dev || production ? { production: production === true } : {}
    const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
    const shared = {
      ...(roles ? { roles: roles.join(',') } : {}),
      ...(noBrowser ? { browserPath: 'off', browserWsEndpoint: '' } : {}),
    }
    const hurry = shell.takeSignals()
    const { serve: run } = await (await import('../../src/app/bundle')).loadServer()
    await run({ ...overridesOf(shell), ...mode, ...given, ...shared }, { newSecrets, stop: shell.signal, hurry })
    // Never resolves. After a signal, the server ends the process itself once the last answer is sent.
    await new Promise<never>(() => undefined)
  },
})

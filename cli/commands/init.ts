import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { defineCommand } from '../command'
import { EXIT } from '../exit'
import { CommandFailed } from '../failure'
import { column } from '../output/columns'
import { safeJson } from '../output/json'
import { fromHere } from '../transport'
import { flag, optional, text, whole } from '../words'

const columns = [column('config', 'CONFIG'), column('secrets', 'SECRETS'), column('made', 'MADE', { kind: 'list' })]

/** What is left to do before a production start, each with the check of doctor that says whether it is done. */
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

export const init = defineCommand({
  path: 'init',
  summary: 'Write a configuration file and the secrets of a new server',
  about:
    'Writes svc.server.json and data/secrets.json, readable only by you. It replaces an existing configuration file only with --force, and it never replaces secrets. With --production it also lists the steps before a production start, each with the doctor check that covers it.',
  examples: ['init', 'init /srv/svc --production --public-url https://svc.example', 'init --print'],
  apis: ['host'],
  impact: 'write',
  exits: [5],
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
    const { RETIRED, SETTINGS } = await import('../../src/app/config')
    const { readTextFile } = await import('../preference-file')
    const root = fromHere(shell.cwd, folder)
    const databaseUrl = databaseFrom && (await readTextFile(shell, databaseFrom)).trim()
    const wanted = { dataDir: join(root, 'data'), publicUrl, port, databaseUrl }
    const config = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined && value !== ''))
    resolveSettings(SETTINGS, {}, config, RETIRED)
    if (print) return shell.io.out(safeJson(config, 2))
    const file = join(root, 'svc.server.json')
    const isThere = existsSync(file)
    if (isThere && !force && Object.keys(config).length > 1) throw thereAlready(file)
    const isStored = isThere && !force
    if (shell.planned(isStored ? `keep ${file}` : `write ${file} and the secrets of a new server`)) return
    if (isThere && force) shell.confirm(`Replace ${file}? Its current contents will be lost.`)
    const { writeConfigFile } = await import('../../src/kernel/config-file')
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

const thereAlready = (file: string): CommandFailed =>
  new CommandFailed({
    exitCode: EXIT.conflict,
    code: 'conflict',
    message: `${file} already exists. Nothing was changed.`,
    fix: 'svc-admin config set NAME VALUE, or init --force',
  })

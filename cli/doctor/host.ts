import { accessSync, chmodSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { inUse, portProblem } from '../../src/kernel/port-holder'
import { expectData } from '../failure'
import { spellAgo } from '../output/time'
import { type Context, type Finding, fail, hostCheck, ok, repairable, serverCheck, skip, warn } from './check'
import { runningOf } from './server'

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8).padStart(4, '0')
const isPrivate = (path: string): boolean => (statSync(path).mode & 0o077) === 0

function here({ shell }: Context, path: string): string {
  const near = relative(shell.cwd, path)
  return near.startsWith('..') ? path : near || '.'
}

/** A finding for a file or folder that others may read but should not. */
const open = (say: typeof warn, context: Context, path: string, mode: 0o600 | 0o700, what: string): Finding =>
  repairable(say(`${here(context, path)} ${what}, mode ${modeOf(path)}`, `chmod ${mode.toString(8)} ${path}`), () =>
    chmodSync(path, mode),
  )

export const configCheck = hostCheck('config', [], async (context) => {
  const { file, origins } = context.config()
  const set = Object.values(origins).filter((origin) => origin !== 'default').length
  const stray = (await import('../../src/app/variables')).unknownVariables(context.shell.env).join(' ')
  if (stray) return warn(stray, 'svc-admin config check')
  return ok(`${file ? here(context, file) : 'no file'}, ${set} settings changed from the default, none unknown`)
})

export const secretsCheck = hostCheck('secrets', ['config'], async (context) => {
  const config = context.config()
  const path = join(config.dataDir, 'secrets.json')
  if (config.masterKey || config.masterKeyFile) {
    if (!config.databaseUrl && !existsSync(join(config.dataDir, 'svc.db')))
      return warn('not made yet; the first start makes them in the database', 'svc-admin serve')
    const problem = await (await import('../../src/app/keyring')).keyringStatus(config).then(
      () => null,
      (error: Error) => error.message,
    )
    if (problem) return fail(problem, 'svc-admin keyring status')
    return existsSync(path)
      ? warn(
          `${here(context, path)} is no longer needed where the database has the secrets`,
          'svc-admin keyring status',
        )
      : ok('in the database, wrapped by the master key')
  }
  if (!existsSync(path)) {
    // A running server has its master key in its own environment.
    if (await runningOf(context).catch(() => null))
      return warn(
        `a server runs here without ${here(context, path)}: name its master key to this shell, too, or put the file back`,
        'svc-admin keyring status --help',
      )
    return warn(`${here(context, path)} does not exist yet; the first start creates it`, 'svc-admin serve')
  }
  if (!isPrivate(path)) return open(fail, context, path, 0o600, 'can be read by other users')
  return ok(`${here(context, path)} mode ${modeOf(path)}`)
})

export const filesCheck = hostCheck('files', ['config'], async (context) => {
  const { dataDir } = context.config()
  if (!existsSync(dataDir))
    return warn(`${here(context, dataDir)} does not exist yet; the first start creates it`, 'svc-admin serve')
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return fail(`${here(context, dataDir)} cannot be written to by this user`, `chown -R "$(id -un)" ${dataDir}`)
  }
  const database = join(dataDir, 'svc.db')
  if (existsSync(database) && !isPrivate(database))
    return open(fail, context, database, 0o600, 'can be read by other users')
  if (!isPrivate(dataDir)) return open(warn, context, dataDir, 0o700, 'is open to other users')
  return ok(`${here(context, dataDir)} mode ${modeOf(dataDir)}, writable`)
})

const LITTLE_MB = 1_024
const TOO_LITTLE_MB = 100

export const diskCheck = hostCheck('disk', ['files'], async (context) => {
  const { dataDir } = context.config()
  if (!existsSync(dataDir)) return skip('needs files')
  const { bavail, bsize } = statfsSync(dataDir)
  const mb = Math.floor((bavail * bsize) / 1_048_576)
  const detail = mb > 10_240 ? `${Math.floor(mb / 1_024)} GB free` : `${mb} MB free`
  if (mb < TOO_LITTLE_MB) return fail(`${detail}; writes will fail soon`)
  return mb < LITTLE_MB ? warn(detail) : ok(detail)
})

export const socketCheck = hostCheck('operator socket', ['config'], async (context) => {
  const path = join(context.config().dataDir, 'ops.sock')
  if (!existsSync(path)) return warn('no server runs', 'svc-admin serve')
  if (!isPrivate(path)) return open(fail, context, path, 0o600, 'is open to other users')
  const { transport } = await context.connect()
  if (transport.kind !== 'socket')
    return warn(`${here(context, path)} is left over from a server that was killed`, 'svc-admin serve')
  return ok(`${here(context, path)} mode ${modeOf(path)}, a server answers`)
})

export const portCheck = hostCheck('port', ['config'], async (context) => {
  const { host, port } = context.config()
  const serving = (await runningOf(context))?.api_url
  if (serving) return ok(`${serving}, the server of this data folder`)
  if (port === 0) return ok('any free one')
  const problem = await portProblem(host, port)
  if (problem === null) return ok(`${host}:${port} is free`)
  return problem === 'EADDRINUSE'
    ? fail(`${host}:${port} ${inUse(port)}`, `svc-admin serve --port ${port + 1}`)
    : fail(`${host}:${port} cannot be listened on (${problem})`, 'svc-admin config set host 127.0.0.1')
})

const OLD_MS = 8 * 86_400_000

export const backupsCheck = serverCheck('backups', async (context) => {
  const { backups, unreachable } = expectData(await (await context.connect()).ops().backups.get())
  const [newest] = backups
  const repair = async () => {
    expectData(await (await context.connect()).ops().backups.post({}))
  }
  const [silent] = unreachable
  if (!newest && silent) return warn(`${silent.path} does not answer`, 'svc-admin backup list')
  if (!newest) return repairable(warn('none on this machine', 'svc-admin backup create'), repair)
  const age = context.shell.clock.now() - Date.parse(newest.created)
  const detail = `last one ${spellAgo(age)}, ${newest.path}`
  return age > OLD_MS ? repairable(warn(detail, 'svc-admin backup create'), repair) : ok(detail)
})

import { chmodSync, chownSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../src/app/bundle'
import { send } from '../../src/app/client'
import { randomBase62, randomBase64 } from '../../src/kernel/crypto'
import { inUse, portProblem } from '../../src/kernel/port-holder'
import { columnsOf, commandsOf } from '../command'
import { conflictFailure, notFoundFailure, unreachable, usageFailure } from '../failure'
import { writeWhole } from '../settings'
import type { Shell } from '../shell'
import { fromHere } from '../transport'
import { oneOf, text, whole } from '../words'

const command = commandsOf('dev', { apis: ['host'], exits: [] })

/** A cluster of this machine, as stored in `cluster.json` of its folder. */
type Cluster = { port: number; nodePorts: number[]; postgresPort: number; redisPort: number; password: string }

const NODES = 2
const MAX_NODES = 8
const PORT = 3400
const READY_MS = 60_000
const STOP_MS = 40_000
const LOOK_MS = 100
/** Debian installs these programs outside PATH. */
const MORE_FOLDERS = ['/usr/sbin', '/usr/lib/postgresql/*/bin']
const PROGRAMS = ['initdb', 'pg_ctl', 'redis-server', 'haproxy'] as const

type Programs = Record<(typeof PROGRAMS)[number], string>

const columns = columnsOf`name NAME, address ADDRESS, pid PID number`
export const devCluster =
  command`cluster (writes, exits 3 5 7): Start or stop a cluster on this machine: nodes, a proxy, Postgres and Redis
  For trying what several nodes do, with the proxy settings of docs/deploy/haproxy.cfg. Everything listens on 127.0.0.1 and runs until dev cluster down. The folder has the data and a log of each process. down lets the nodes answer running requests and keeps the data; up continues with it. It needs the Debian packages postgresql, redis-server and haproxy.
  $ dev cluster up
  $ dev cluster up --nodes 3 --port 8080 --folder /tmp/cluster
  $ dev cluster down`({
    columns,
    args: { action: oneOf(['up', 'down'], 'up or down') },
    flags: {
      nodes: whole('N', `how many nodes; ${NODES} by default`, { min: 1, max: MAX_NODES }),
      port: whole('N', `port of the proxy; ${PORT} by default`, { min: 1, max: 65_535 }),
      folder: text('FOLDER', 'where data and logs are; ./cluster by default'),
    },
    run: (shell, { action, folder = 'cluster', ...input }) =>
      action === 'up' ? up(shell, folder, input) : down(shell, folder),
  })

async function up(shell: Shell, folder: string, { nodes = NODES, port = PORT }: { nodes?: number; port?: number }) {
  const root = fromHere(shell.cwd, folder)
  const programs = await installed()
  if (nodePids(root).length) throw conflictFailure(`A cluster runs in ${root}.`, downCommand(folder))
  if (await portProblem('127.0.0.1', port))
    throw usageFailure(`Port ${port} ${inUse(port)}.`, `svc-admin dev cluster up --port ${port + 1}`)
  if (shell.planned(`start ${nodes} nodes, a proxy, Postgres and Redis in ${root}`)) return
  mkdirSync(root, { recursive: true, mode: 0o700 })
  // As root, Postgres runs as another user and needs access to its subfolder.
  if (isRoot()) chmodSync(root, 0o711)
  const cluster = await layOut(root, port, nodes)
  const masterKey = join(root, 'master.key')
  if (!existsSync(masterKey)) writeFileSync(masterKey, randomBase64(32), { mode: 0o600 })
  try {
    await startStores(root, cluster, programs)
    for (const at of cluster.nodePorts.keys()) await startNode(shell, root, cluster, at)
    await startProxy(shell, root, cluster, programs)
  } catch (error) {
    await stopAll(shell, root)
    throw error
  }
  shell.print.list(rowsOf(root, cluster), columns, '')
  shell.note(`Key:   cat ${join(folder, 'node-1/dev-key')}
Nodes: svc-admin nodes list --data-dir ${join(folder, 'node-1')}
Stop:  ${downCommand(folder)}`)
}

async function down(shell: Shell, folder: string): Promise<void> {
  const root = fromHere(shell.cwd, folder)
  if (!existsSync(join(root, 'cluster.json')))
    throw notFoundFailure(`There is no cluster in ${root}.`, 'svc-admin dev cluster up')
  if (shell.planned(`stop the cluster in ${root}`)) return
  await stopAll(shell, root)
  shell.note(`Stopped. Its data is still in ${folder}.`)
}

const downCommand = (folder: string) => `svc-admin dev cluster down${folder === 'cluster' ? '' : ` --folder ${folder}`}`

/** Finds the programs. @throws CommandFailed 7 that names the missing ones */
async function installed(): Promise<Programs> {
  const scan = { cwd: '/', absolute: true, onlyFiles: false }
  const folders = await Promise.all(MORE_FOLDERS.map((pattern) => Array.fromAsync(new Bun.Glob(pattern).scan(scan))))
  // Newest version first, because the first match in PATH wins.
  const newest = folders.flat().sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  const PATH = [process.env.PATH, ...newest].join(':')
  const found = PROGRAMS.map((name) => [name, Bun.which(name, { PATH })] as const)
  const missing = found.flatMap(([name, path]) => (path ? [] : [name]))
  if (missing.length)
    throw unreachable(
      `dev cluster needs ${missing.join(', ')}, which ${missing.length > 1 ? 'are' : 'is'} not installed.`,
      'apt-get install postgresql redis-server haproxy',
    )
  return Object.fromEntries(found) as Programs
}

/** Reads or creates the cluster of this folder. Always picks new ports, because other programs may use the old. */
async function layOut(root: string, port: number, nodes: number): Promise<Cluster> {
  const file = join(root, 'cluster.json')
  const password = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Cluster).password : randomBase62(24)
  // Holds every port until the last one is found, so that all differ.
  const held = Array.from({ length: nodes + 2 }, () =>
    Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } }),
  )
  for (const one of held) one.stop(true)
  const [postgresPort = 0, redisPort = 0, ...nodePorts] = held.map(({ port }) => port)
  const cluster = { port, nodePorts, postgresPort, redisPort, password }
  await writeWhole(file, JSON.stringify(cluster))
  return cluster
}

async function startStores(root: string, { postgresPort, redisPort, password }: Cluster, programs: Programs) {
  const [folder, data] = [join(root, 'postgres'), join(root, 'postgres/data')]
  if (!existsSync(data)) {
    mkdirSync(folder, { mode: 0o700 })
    const passwordFile = join(folder, 'password')
    writeFileSync(passwordFile, password, { mode: 0o600 })
    if (isRoot()) {
      const [uid, gid] = [await finished(['id', '-u', 'postgres']), await finished(['id', '-g', 'postgres'])].map(
        Number,
      )
      for (const path of [folder, passwordFile]) chownSync(path, uid!, gid!)
    }
    const access = ['-U', 'svc', `--pwfile=${passwordFile}`, '--auth=scram-sha-256']
    await finished(asPostgres([programs.initdb, '-D', data, ...access, '-E', 'UTF8', '--locale=C']))
  }
  const settings = `-p ${postgresPort} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder}`
  await finished(asPostgres([programs.pg_ctl, 'start', '-w', '-D', data, '-l', join(folder, 'log'), '-o', settings]))
  const redis = ['--port', String(redisPort), '--bind', '127.0.0.1', '--requirepass', password, '--save', '']
  const files = ['--dir', root, '--pidfile', join(root, 'redis.pid'), '--logfile', join(root, 'redis.log')]
  await finished([programs['redis-server'], ...redis, ...files, '--daemonize', 'yes'])
}

async function startNode(shell: Shell, root: string, cluster: Cluster, at: number): Promise<void> {
  const { postgresPort, redisPort, password, nodePorts, port } = cluster
  const folder = join(root, `node-${at + 1}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const log = openSync(join(root, `node-${at + 1}.log`), 'a', 0o600)
  const words = ['serve', '--dev', '--data-dir', folder, '--port', String(nodePorts[at])]
  const child = Bun.spawn([process.execPath, join(ROOT, 'cli/main.ts'), ...words], {
    detached: true,
    stdin: 'ignore',
    stdout: log,
    stderr: log,
    env: {
      ...process.env,
      SVC_DATABASE_URL: `postgres://svc:${password}@127.0.0.1:${postgresPort}/postgres`,
      SVC_REDIS_URL: `redis://:${password}@127.0.0.1:${redisPort}`,
      SVC_MASTER_KEY_FILE: join(root, 'master.key'),
      SVC_FILES_DIR: join(root, 'files'),
      SVC_PUBLIC_URL: `http://127.0.0.1:${port}`,
      SVC_TRUSTED_PROXIES: '127.0.0.1/32',
      SVC_DRAIN_S: '3',
    },
  })
  closeSync(log)
  child.unref()
  writeFileSync(join(root, `node-${at + 1}.pid`), String(child.pid))
  await healthy(shell, nodePorts[at]!, join(root, `node-${at + 1}.log`))
}

async function startProxy(shell: Shell, root: string, { port, nodePorts }: Cluster, { haproxy }: Programs) {
  const file = join(root, 'haproxy.cfg')
  const documented = readFileSync(join(ROOT, 'docs/deploy/haproxy.cfg'), 'utf8')
  const servers = nodePorts.map((one, at) => `  server node-${at + 1} 127.0.0.1:${one}\n`).join('')
  const own = documented
    .replace(/^ {2}bind .*$/m, `  bind 127.0.0.1:${port}`)
    .replace(/(?:^ {2}server .*\n)+/m, servers)
  writeFileSync(file, own)
  await finished([haproxy, '-D', '-f', file, '-p', join(root, 'proxy.pid')])
  await healthy(shell, port, file)
}

/** @throws CommandFailed 7 when the cluster is not healthy within a minute */
async function healthy({ clock, signal }: Shell, port: number, log: string): Promise<void> {
  const until = clock.monotonic() + READY_MS
  const url = `http://127.0.0.1:${port}`
  for (;;) {
    const answer = await send({ kind: 'url', url }, '/api/v1/health', {}).catch(() => null)
    if (answer?.ok) return
    signal.throwIfAborted()
    if (clock.monotonic() > until) throw unreachable(`${url} does not answer.`, `read ${log}`)
    await clock.sleep(LOOK_MS, signal)
  }
}

/** Stops each process before the ones it needs. @throws CommandFailed 7 for a process that does not end */
async function stopAll(shell: Shell, root: string): Promise<void> {
  await ended(shell, nodePids(root))
  await ended(shell, [...pidsIn(root, 'proxy.pid', 'haproxy'), ...pidsIn(root, 'redis.pid', 'redis-server')])
  const data = join(root, 'postgres/data')
  if (existsSync(join(data, 'postmaster.pid'))) {
    await finished(asPostgres([(await installed()).pg_ctl, 'stop', '-w', '-m', 'fast', '-D', data]))
  }
}

async function ended({ clock }: Shell, pids: readonly number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGTERM')
  const until = clock.monotonic() + STOP_MS
  while (pids.some((pid) => commandOf(pid) !== '')) {
    if (clock.monotonic() > until) throw unreachable(`Process ${pids} does not stop.`, `kill -9 ${pids.join(' ')}`)
    await clock.sleep(LOOK_MS)
  }
}

const nodePids = (root: string): number[] =>
  Array.from({ length: MAX_NODES }, (_, at) => pidsIn(root, `node-${at + 1}.pid`, join(root, `node-${at + 1}`))).flat()

/** The process of a pid file, if it still runs. Another program may use its number by now. */
function pidsIn(root: string, file: string, mark: string): number[] {
  const path = join(root, file)
  const pid = existsSync(path) ? Number(readFileSync(path, 'utf8').trim()) : 0
  return pid > 0 && commandOf(pid).includes(mark) ? [pid] : []
}

/** The command line of a process. Empty when the process has ended. */
const commandOf = (pid: number): string =>
  Bun.spawnSync(['ps', '-o', 'args=', '-p', String(pid)])
    .stdout.toString()
    .trim()

const rowsOf = (root: string, { port, nodePorts, postgresPort, redisPort }: Cluster) => {
  const row = (name: string, at: number, pid?: number) => ({ name, address: `127.0.0.1:${at}`, pid: pid ?? null })
  const pids = nodePids(root)
  return [
    row('proxy', port, pidsIn(root, 'proxy.pid', 'haproxy')[0]),
    ...nodePorts.map((one, at) => row(`node-${at + 1}`, one, pids[at])),
    row(
      'postgres',
      postgresPort,
      Number(readFileSync(join(root, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0]),
    ),
    row('redis', redisPort, pidsIn(root, 'redis.pid', 'redis-server')[0]),
  ]
}

const isRoot = () => process.getuid?.() === 0

/** Postgres refuses to run as root. */
const asPostgres = (command: string[]): string[] =>
  isRoot() ? ['runuser', '-u', 'postgres', '--', ...command] : command

/** Runs a program to its end and returns its output. @throws CommandFailed 7 when it fails */
async function finished(command: string[]): Promise<string> {
  const child = Bun.spawn(command, { cwd: '/', stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) === 0) return out
  throw unreachable(`${command.join(' ')} failed: ${err.trim().split('\n').at(-1)}`, 'read the logs in the folder')
}

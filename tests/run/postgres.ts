import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SQL } from 'bun'
import { freePort } from '../support/free-port'

export type FoundPostgres = { url: string; where: string; stop(): Promise<void> } | { missing: string }

const SETTINGS = [
  // Durability is not what these tests measure; without it they take half the time.
  ...['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=400'],
  // A server that is killed leaves its shared memory: in its own folder, which goes with it.
  'dynamic_shared_memory_type=mmap',
]
const READY_WITHIN_MS = 20_000

/**
 * A Postgres for the tests: the one `SVC_TEST_POSTGRES_URL` names, else a private cluster in a temporary
 * folder in `scratch`, started from a server binary on this machine and stopped by its process id.
 */
export async function findPostgres(scratch = tmpdir()): Promise<FoundPostgres> {
  const given = process.env.SVC_TEST_POSTGRES_URL
  if (given) return { url: given, where: 'SVC_TEST_POSTGRES_URL', stop: async () => undefined }
  const bin = await serverBinaries()
  if (!bin) return { missing: 'SVC_TEST_POSTGRES_URL is not set and no Postgres server is installed here.' }
  try {
    return await startCluster(bin, scratch)
  } catch (error) {
    return { missing: `a private Postgres did not start: ${(error as Error).message}` }
  }
}

/** The folder of `initdb` and `postgres`: Debian keeps them off PATH, newest version last. */
async function serverBinaries(): Promise<string | null> {
  const root = '/usr/lib/postgresql'
  if (existsSync(root)) {
    const found = await Array.fromAsync(new Bun.Glob('*/bin/initdb').scan({ cwd: root, absolute: true }))
    const newest = found.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
    if (newest) return dirname(newest)
  }
  const onPath = Bun.which('initdb')
  return onPath ? dirname(onPath) : null
}

export type OwnPostgres = {
  url: string
  where: string
  /** Ends it at once, as `pg_ctl stop -m immediate` does: connections break and the next start recovers. */
  crash(): Promise<void>
  /** Stops all its processes where they are: connections stay open and nothing is answered; until `thaw`. */
  freeze(): void
  thaw(): void
  /** Starts it again where it was. */
  start(): Promise<void>
  stop(): Promise<void>
}

/**
 * A Postgres for a test that crashes it; never the one of `SVC_TEST_POSTGRES_URL`, which others use. It acknowledges a
 * commit once the kernel has it, or its own crash would lose what nodes have acknowledged.
 */
export async function ownPostgres(scratch = tmpdir()): Promise<OwnPostgres | { missing: string }> {
  const bin = await serverBinaries()
  if (!bin) return { missing: 'no Postgres server is installed here.' }
  return startCluster(bin, scratch, ['synchronous_commit=on'])
}

/** A child of the server may end at any time. */
function signalIfAlive(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function startCluster(bin: string, scratch: string, more: readonly string[] = []): Promise<OwnPostgres> {
  const folder = mkdtempSync(join(scratch, 'svc-postgres-'))
  const data = join(folder, 'data')
  const port = await freePort()
  if (isRoot()) await lendTo(folder, 'postgres')
  try {
    await finish([join(bin, 'initdb'), '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'])
    const settings = [...SETTINGS, ...more, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`]
    const command = [join(bin, 'postgres'), '-D', data, '-p', String(port), ...settings.flatMap((one) => ['-c', one])]
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    let server = await run(command, url)
    const main = () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
    /** The first process before its children, so that it makes none meanwhile. */
    const toAll = (signal: 'SIGSTOP' | 'SIGCONT') => {
      process.kill(main(), signal)
      const children = readFileSync(`/proc/${main()}/task/${main()}/children`, 'utf8').match(/\d+/g) ?? []
      for (const child of children) signalIfAlive(Number(child), signal)
      // `runuser` stops with what it started.
      if (signal === 'SIGCONT') server.kill(signal)
    }
    const end = async (signal: 'SIGINT' | 'SIGQUIT') => {
      if (!existsSync(join(data, 'postmaster.pid'))) return
      toAll('SIGCONT')
      process.kill(main(), signal)
      await server.exited
    }
    return {
      url,
      where: `a private ${bin.split('/').at(-2)} on port ${port}`,
      crash: () => end('SIGQUIT'),
      freeze: () => toAll('SIGSTOP'),
      thaw: () => toAll('SIGCONT'),
      start: async () => {
        server = await run(command, url)
      },
      stop: async () => {
        await end('SIGINT')
        rmSync(folder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

async function run(command: string[], url: string) {
  const server = Bun.spawn(asPostgres(command), { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore', cwd: '/' })
  await ready(url)
  return server
}

const isRoot = () => process.getuid?.() === 0

/** Postgres refuses to run as root. */
const asPostgres = (command: string[]): string[] =>
  isRoot() ? ['runuser', '-u', 'postgres', '--', ...command] : command

async function lendTo(folder: string, user: string): Promise<void> {
  const id = async (flag: string) => Number(await finish(['id', flag, user], (command) => command))
  chownSync(folder, await id('-u'), await id('-g'))
}

/** Runs a program to its end and answers what it printed. Throws when it fails. */
async function finish(command: string[], as = asPostgres): Promise<string> {
  const child = Bun.spawn(as(command), { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', cwd: '/' })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${command[0]} failed: ${err.trim().split('\n').at(-1)}`)
  return out
}

async function ready(url: string): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS
  for (;;) {
    const client = new SQL(url, { max: 1, connectionTimeout: 2 })
    try {
      await client`SELECT 1`
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await Bun.sleep(50)
    } finally {
      await client.close()
    }
  }
}

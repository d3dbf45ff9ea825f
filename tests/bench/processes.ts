import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { spentBy } from '../support/spent'

export type Peer = { port: number; pid: number; cpuMs(): number; stop(): Promise<void> }

/** Servers share one core and the load has the other, where the machine can pin. */
const pin = (core: number): string[] => (Bun.which('taskset') ? ['taskset', '-c', String(core)] : [])
const SERVER_CORE = 0
const OTHER_CORE = 1

export async function startPeer(role: string, target = ''): Promise<Peer> {
  const core = ['upstream', 'paced', 'tools'].includes(role) ? OTHER_CORE : SERVER_CORE
  const child = Bun.spawn([...pin(core), process.execPath, join(import.meta.dir, 'peers.ts'), role, target], {
    stdout: 'pipe',
  })
  const first = await child.stdout.getReader().read()
  return { port: Number(Buffer.from(first.value!).toString()), ...watched(child) }
}

export type Product = Peer & { key: string; startedMs: number }

/**
 * The real server of a checkout on an empty folder, with the dev key of its first run; on the core of servers, or
 * wherever it likes. Without the address of an engine it has the built-in one alone.
 */
export async function startProduct(
  engineUrl: string | null,
  { anyCore = false, root = join(import.meta.dir, '../..') }: { anyCore?: boolean; root?: string } = {},
): Promise<Product> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const port = freePort()
  const startedAt = performance.now()
  const child = Bun.spawn([...(anyCore ? [] : pin(SERVER_CORE)), process.execPath, join(root, 'src/main.ts')], {
    env: {
      ...process.env,
      SVC_DATA_DIR: folder,
      SVC_PORT: String(port),
      ...(engineUrl && {
        SVC_ENGINE_BASE_URL: engineUrl,
        SVC_ENGINE_MODEL: 'bench',
        SVC_EMBED_BASE_URL: engineUrl,
      }),
      SVC_TIERS: JSON.stringify({ enterprise: { rpm: 100_000_000, tpm: 100_000_000_000, text: 100_000_000 } }),
      SVC_CREDITS_INITIAL_CENTS: '1000000000',
    },
    stdout: 'ignore',
    stderr: 'inherit',
  })
  while (!(await isHealthy(port))) await Bun.sleep(5)
  const startedMs = performance.now() - startedAt
  const { stop, pid, cpuMs } = watched(child)
  const key = readFileSync(join(folder, 'dev-key'), 'utf8').trim()
  return {
    port,
    key,
    startedMs,
    pid,
    cpuMs,
    stop: () => stop().then(() => rmSync(folder, { recursive: true, force: true })),
  }
}

/** Another gateway, fetched from the registry of packages: what a call through it costs in the same run. */
export async function startGateway(): Promise<Peer> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-'))
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const fetched = Bun.spawnSync(['npm', 'install', '--ignore-scripts', '@portkey-ai/gateway@1.15.2'], { cwd: folder })
  if (!fetched.success) throw new Error(`the other gateway cannot be fetched: ${fetched.stderr}`)
  const port = freePort()
  const program = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js')
  const child = Bun.spawn([...pin(SERVER_CORE), 'node', program, '--headless', `--port=${port}`], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  while (!(await fetch(`http://127.0.0.1:${port}/`).then(Boolean, () => false))) await Bun.sleep(50)
  return { port, ...watched(child) }
}

const isHealthy = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/api/v1/health`).then(
    (reply) => reply.ok,
    () => false,
  )

function freePort(): number {
  const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = probe
  void probe.stop(true)
  return port!
}

function watched(child: Subprocess): Pick<Peer, 'pid' | 'cpuMs' | 'stop'> {
  /** What each thread took, also of those that have ended since. */
  const taken = new Map<string, number>()
  return {
    pid: child.pid,
    cpuMs() {
      for (const id of readdirSync(`/proc/${child.pid}/task`)) {
        const { ranMs } = spentBy(`${child.pid}/task/${id}`)
        taken.set(id, Math.max(ranMs, taken.get(id) ?? 0))
      }
      return taken.values().reduce((sum, ms) => sum + ms, 0)
    },
    stop: async () => {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

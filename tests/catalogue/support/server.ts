import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HealthWatch, watchHealth } from './health'

/** A stretch in which the server's event loop did nothing else, by its own doing. */
export type Block = { ms: number /** Of it, on the processor. */; ranMs: number; at: string }

export type Spawned = {
  readonly url: string
  readonly port: number
  readonly folder: string
  readonly pid: number
  readonly health: HealthWatch
  /** One call of the operator API, over its socket. */
  ops(method: string, path: string, body?: unknown): Promise<OpsReply>
  /** Everything it printed so far. */
  printed(): string
  alive(): boolean
  /** When its event loop stood still, since it was ready: loading its own code is not a request. */
  blocks(): Block[]
  /** SIGTERM; answers the exit code. */
  stop(): Promise<number>
  /** SIGKILL; its folder stays. */
  murder(): Promise<void>
  /** The same server once more, on what the last one left behind. */
  again(): Promise<Spawned>
  /** SIGKILL, and its folder goes. */
  kill(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: the operator API answers in many shapes
type OpsReply = { status: number; text: string; body: any }

const READY_MS = 60_000

/**
 * `bun src/main.ts` as a process of its own, with a probe in it that notes when its event loop stood
 * still, and another process' eyes on its health.
 */
export async function spawnServer(
  env: Record<string, string>,
  folder = mkdtempSync(join(tmpdir(), 'svc-catalogue-')),
): Promise<Spawned> {
  const blocksFile = join(folder, 'loop-blocks.jsonl')
  const output: string[] = []
  const child = Bun.spawn(['bun', '--no-orphans', '--preload', join(import.meta.dir, 'loop-probe.ts'), 'src/main.ts'], {
    env: { PATH: process.env.PATH ?? '', SVC_DATA_DIR: folder, SVC_PORT: '0', SVC_TEST_BLOCKS: blocksFile, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const reading = [collect(child.stdout, output), collect(child.stderr, output)]
  const url = await address(child, output)
  const readyAt = new Date().toISOString()
  const port = Number(new URL(url).port)
  const health = watchHealth(port, child.pid)
  const socket = join(folder, 'ops.sock')

  const ops = async (method: string, path: string, body?: unknown): Promise<OpsReply> => {
    const response = await fetch(`http://localhost${path}`, {
      unix: socket,
      method,
      headers: { 'x-svc-operator': 'catalogue', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
  }

  const murder = async () => {
    await health.stop()
    child.kill('SIGKILL')
    await child.exited
    await Promise.all(reading)
  }

  return {
    url,
    port,
    folder,
    pid: child.pid,
    ops,
    health,
    murder,
    again: () => spawnServer(env, folder),
    printed: () => output.join(''),
    alive: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      await health.stop()
      child.kill('SIGTERM')
      return child.exited
    },
    blocks: () =>
      readLines(blocksFile)
        .map((line) => JSON.parse(line) as Block)
        .filter(({ at }) => at > readyAt),
    async kill() {
      await murder()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function collect(stream: ReadableStream<Uint8Array>, into: string[]): Promise<void> {
  const words = new TextDecoder()
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>)
    into.push(words.decode(chunk, { stream: true }))
}

async function address(child: { exitCode: number | null }, output: string[]): Promise<string> {
  const until = performance.now() + READY_MS
  while (performance.now() < until && child.exitCode === null) {
    const found = /API\s+(http:\S+)\/api\/v1/.exec(output.join(''))?.[1]
    if (found && output.join('').includes('Ready in')) return found
    await Bun.sleep(10)
  }
  throw new Error(`the server did not start:\n${output.join('')}`)
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}

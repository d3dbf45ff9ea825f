import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RedisClient } from 'bun'
import { eventually } from './eventually'
import { freePort } from './free-port'

const binary = Bun.which('redis-server')

export type RedisServer = Awaited<ReturnType<typeof startRedis>>

/** Whether a Redis can be started here; says so where it cannot. */
export function hasRedis(what: string): boolean {
  if (!binary) process.stdout.write(`NOT RUN: ${what}, because redis-server is not installed.\n`)
  return binary !== null
}

/** A Redis of its own on loopback, which keeps nothing. */
export async function startRedis() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-redis-'))
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const command = [binary!, '--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
  let server = await start()

  async function start() {
    const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore' })
    await eventually(async () => {
      const client = new RedisClient(url, { enableOfflineQueue: false, maxRetries: 0 })
      const isUp = await client.connect().then(
        () => true,
        () => false,
      )
      client.close()
      return isUp
    })
    return child
  }

  async function kill() {
    server.kill('SIGKILL')
    await server.exited
  }

  return {
    url,
    kill,
    start: async () => {
      server = await start()
    },
    freeze: () => server.kill('SIGSTOP'),
    thaw: () => server.kill('SIGCONT'),
    async stop() {
      server.kill('SIGCONT')
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

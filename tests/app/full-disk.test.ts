import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../support/eventually'
import { type ServerProcess, spawnServer, startServerProcess } from '../support/server-process'
import { mountSmallDisk } from '../support/small-disk'

const disk = await mountSmallDisk(12)
afterAll(() => disk?.remove())

const serving = (name: string) => ({
  dataDir: join(disk!.folder, name),
  command: disk!.command(process.execPath, join(import.meta.dir, '../../src/main.ts')),
})

/** Sends a request with the dev key of the folder `name` and tells what matters here. */
const clientOf = (server: ServerProcess, name: string) => {
  const key = readFileSync(join(disk!.seen, name, 'dev-key'), 'utf8').trim()
  return async (path: string, input?: object) => {
    const response = await fetch(`${server.url}/api/v1/${path}`, {
      method: input ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(input ? { body: JSON.stringify(input) } : {}),
    })
    const text = await response.text()
    const body = text.startsWith('{') ? JSON.parse(text) : { text }
    const retryAfter = response.headers.get('retry-after')
    return { status: response.status, retryAfter, code: body.error?.code, state: body.status, body }
  }
}

const REFUSED = { status: 503, code: 'storage_unavailable', retryAfter: '30' }

describe.if(disk !== null)('on a full disk', () => {
  test('a stream is refused before its first word, reads go on, and all of it passes with the room', async () => {
    const server = await startServerProcess(serving('streams'))
    const send = clientOf(server, 'streams')
    disk!.fill()
    expect(await send('completions', { prompt: 'What is 2+2?', stream: true })).toMatchObject(REFUSED)
    expect(await send('completions', { prompt: 'What is 2+3?', mode: 'fast' })).toMatchObject(REFUSED)
    expect(await send('chat/completions', { messages: [{ role: 'user', content: 'hi' }], stream: true })).toMatchObject(
      REFUSED,
    )
    expect((await send('conversations')).status).toBe(200)

    disk!.makeRoom()
    const { status, body } = await send('completions', { prompt: 'What is 2+2?', stream: true })
    expect({ status, done: body.text.includes('event: done') }).toEqual({ status: 200, done: true })
    await server.stop()
  }, 120_000)

  test('/health is 503 and down while nothing is kept, and healthy again with the next write', async () => {
    const server = await startServerProcess(serving('health'))
    const send = clientOf(server, 'health')
    expect(await send('health')).toMatchObject({ status: 200, state: 'healthy' })
    disk!.fill()
    await send('completions', { prompt: 'What is 2+2?', stream: true })
    const { body, ...rest } = await send('health')
    expect(rest).toMatchObject({ status: 503, state: 'down', retryAfter: '30' })
    expect(body.infrastructure.database).toEqual({ status: 'degraded', latencyMs: expect.any(Number) })
    disk!.makeRoom()
    await send('completions', { prompt: 'What is 2+2?', mode: 'fast' })
    expect(await send('health')).toMatchObject({ status: 200, state: 'healthy', retryAfter: null })
    await server.stop()
  }, 120_000)

  test('a start says that the disk is full, also after a crash there, and loses nothing', async () => {
    const first = await startServerProcess(serving('crash'))
    const { body } = await clientOf(first, 'crash')('completions', { prompt: 'What is 2+2?', mode: 'fast' })
    disk!.fill()
    await first.kill()
    for (const [name, left] of [['crash'], ['new'], ['migrating', 300 * 1024]] as const) {
      disk!.fill(left)
      const second = await spawnServer(serving(name))
      expect(await second.exited).toBe(1)
      expect(await second.output()).toBe(
        `error: The disk of ${join(disk!.folder, name)} is full. Free some space and start again. Everything answered so far is safe.\n`,
      )
    }
    disk!.makeRoom()
    const third = await startServerProcess(serving('crash'))
    const stored = await clientOf(third, 'crash')(`conversations/${body.conversation_id}`)
    expect(stored.body.conversation.messages[1].content).toBe('2+2 = 4')
    await third.stop()
  }, 120_000)

  test('that holds only the log stops nothing: lines are lost, and how many is said afterwards', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-log-disk-'))
    const program = [process.execPath, join(import.meta.dir, '../../src/main.ts')].map((word) => `'${word}'`).join(' ')
    const server = await startServerProcess({
      dataDir,
      env: { SVC_LOG_LEVEL: 'info', SVC_LOG_FORMAT: 'json' },
      command: disk!.command('sh', '-c', `exec ${program} > '${join(disk!.folder, 'log')}' 2>&1`),
    })
    const statuses = async () => {
      const all = Array.from({ length: 40 }, () => fetch(`${server.url}/api/v1/health`))
      return new Set((await Promise.all(all)).map(({ status }) => status))
    }
    const notify = () => readFileSync(join(disk!.seen, 'log'), 'utf8')
    const request = async () => {
      expect(await statuses()).toEqual(new Set([200]))
      return notify().length
    }
    disk!.fill()
    // The last page of the file still takes lines. It is full when a line is cut at its end.
    let length = 0
    await eventually(async () => {
      length = await request()
      return length % 4096 === 0
    })
    disk!.makeRoom()
    await eventually(async () => (await request()) > length && notify().includes('log lines were lost'))
    expect(notify()).not.toContain('unhandled')
    expect(await server.stop()).toBe(0)
    rmSync(dataDir, { recursive: true })
  }, 180_000)
})

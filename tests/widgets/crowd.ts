import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Socket } from 'bun'
import { devKeyOf, type ServerProcess, startServerProcess } from '../support/server-process'

const SHOP = 'https://shop.example'
/** A crowd comes from one address. */
const ENV = {
  SVC_TIERS: JSON.stringify({ enterprise: { rpm: 100_000_000, tpm: 100_000_000_000, text: 100_000_000 } }),
  SVC_WIDGET_SESSIONS_PER_HOUR: '1000000',
  SVC_WIDGET_MESSAGES_PER_MINUTE: '1000000',
}
/** So many begin their chats, or open their streams, at once. */
const AT_ONCE = 16
const PAGE = 4_096

type Chat = { sessionId: string; token: string; stream: Socket | null }

export type Crowd = Awaited<ReturnType<typeof startCrowd>>

/** Real servers, one or two on one Postgres, a widget, and programs that are its visitors and its operator. */
export async function startCrowd({ databaseUrl, servers: count = 1 }: { databaseUrl?: string; servers?: number } = {}) {
  const env = { ...ENV, ...(databaseUrl ? { SVC_DATABASE_URL: databaseUrl } : {}) }
  const folders = Array.from({ length: count }, () => mkdtempSync(join(tmpdir(), 'svc-crowd-')))
  const servers: ServerProcess[] = []
  for (const dataDir of folders) {
    if (servers.length) copyFileSync(join(folders[0]!, 'secrets.json'), join(dataDir, 'secrets.json'))
    servers.push(await startServerProcess({ dataDir, env }))
  }
  const [first, last] = [servers[0]!, servers.at(-1)!]
  const operator = { authorization: `Bearer ${devKeyOf(folders[0]!)}` }
  const keys = await ask<{ keys: { id: string }[] }>(first, 'GET', 'keys', undefined, operator)
  const input = { api_key_id: keys.keys[0]!.id, security: { allowedOrigins: [SHOP] } }
  const { id } = await ask<{ id: string }>(first, 'POST', 'iframes', input, operator)
  const chats: Chat[] = []
  const heard: { onText: (text: string) => void } = { onText: () => undefined }
  return { begin, listen, take, say, hear, memory, stop, chats, pids: servers.map(({ pid }) => pid) }

  /** Begins chats with the first server. */
  async function begin(max: number): Promise<void> {
    await inTurns(max, async () => {
      const made = await ask<{ session_id: string; token: string }>(first, 'POST', `iframes/${id}/sessions`, {}, page())
      chats.push({ sessionId: made.session_id, token: made.token, stream: null })
    })
  }

  /** Opens a stream for each chat that has none, with the last server. */
  async function listen(): Promise<void> {
    const silent = chats.filter(({ stream }) => stream === null)
    await inTurns(silent.length, async (at) => {
      const chat = silent[at]!
      chat.stream = await opened(last.port, `/api/v1/iframes/${id}/sessions/${chat.sessionId}/events`, {
        ...page(),
        authorization: `Bearer ${chat.token}`,
      })
    })
  }

  /** The operator takes so many chats over. */
  function take(max: number): Promise<void> {
    return inTurns(max, (at) => operate(chats[at]!, 'takeover', {}))
  }

  /** The operator says something, through the first server. */
  function say(at: number, content: string): Promise<unknown> {
    return operate(chats[at]!, 'messages', { content })
  }

  function operate({ sessionId }: Chat, verb: string, body: object) {
    return ask(first, 'POST', `iframes/${id}/conversations/${sessionId}/${verb}`, body, operator)
  }

  /** Every text that comes over any of the streams. */
  function hear(onText: (text: string) => void): void {
    heard.onText = onText
  }

  /** What the server that has the streams keeps in memory, in bytes. */
  function memory(): number {
    return Number(readFileSync(`/proc/${last.pid}/statm`, 'utf8').split(' ')[1]) * PAGE
  }

  async function stop(): Promise<void> {
    for (const { stream } of chats) stream?.end()
    for (const server of servers) await server.kill()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }

  function opened(port: number, path: string, headers: Record<string, string>): Promise<Socket> {
    const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`)
    const answered = Promise.withResolvers<Socket>()
    let isOpen = false
    void Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        open: (socket) => void socket.write([`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n')),
        data(socket, bytes) {
          const text = bytes.toString()
          if (isOpen) return heard.onText(text)
          // The first event says who answers, so the stream is read from then on.
          isOpen = text.includes('event: takeover')
          if (isOpen) answered.resolve(socket)
          else if (!text.startsWith('HTTP/1.1 200')) answered.reject(new Error(text.slice(0, 200)))
        },
        error: (_, error) => answered.reject(error),
      },
    }).catch(answered.reject)
    return answered.promise
  }
}

const page = () => ({ origin: SHOP })

async function ask<T>(server: ServerProcess, method: string, path: string, body: unknown, headers: object): Promise<T> {
  const response = await fetch(`${server.url}/api/v1/${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

async function inTurns(count: number, work: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const one = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
}

import { createWorld, type Person, type Reply, type World } from '../support/world'

export const SHOP = 'https://shop.example'

export type Chat = { id: string; token: string; sessionId: string }

/** A world with what visitors and operators of widgets do. */
export async function createWidgetWorld(options: Parameters<typeof createWorld>[0] = {}) {
  const world = await createWorld(options)
  return { ...world, ...widgetsIn(world) }
}

export function widgetsIn(world: Pick<World, 'person' | 'send' | 'app'>) {
  /** A widget of a new person, shown by the shop. */
  async function widget(more: Record<string, object> = {}, owner?: Person): Promise<{ owner: Person; id: string }> {
    const by = owner ?? (await world.person())
    const { security = {}, ...rest } = more
    const input = { api_key_id: by.keyId, security: { allowedOrigins: [SHOP], ...security }, ...rest }
    const { status, body } = await by.send('POST', 'iframes', input)
    if (status !== 201) throw new Error(JSON.stringify(body))
    return { owner: by, id: body.id }
  }

  /** As a page of the shop. */
  const page = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
    world.send(method, `iframes/${path}`, body, { origin: SHOP, ...headers })

  async function begin(id: string, input: object = {}): Promise<Chat> {
    const { status, body } = await page('POST', `${id}/sessions`, input)
    if (status !== 201) throw new Error(JSON.stringify(body))
    return { id, token: body.token, sessionId: body.session_id }
  }

  const asVisitor =
    ({ id, token, sessionId }: Chat) =>
    (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      page(method, `${id}/sessions/${sessionId}${path}`, body, { authorization: `Bearer ${token}`, ...headers })

  const say = (chat: Chat, content: string, more: object = {}) =>
    asVisitor(chat)('POST', '/messages', { content, ...more })

  const transcript =
    (person: Person, { id, sessionId }: Pick<Chat, 'id' | 'sessionId'>) =>
    (method: string, path = '', body?: unknown) =>
      person.send(method, `iframes/${id}/conversations/${sessionId}${path}`, body)

  return {
    widget,
    page,
    begin,
    asVisitor,
    say,
    transcript,
    listenTo: (chat: Chat, after?: number) => listenTo(world, chat, after),
  }
}

type Heard = { event: string; id: number | null; data: Record<string, unknown> }

/** Follows a chat; `until` waits for an event. */
async function listenTo({ app }: Pick<World, 'app'>, { id, token, sessionId }: Chat, after?: number) {
  const leaving = new AbortController()
  const resume: Record<string, string> = after === undefined ? {} : { 'last-event-id': String(after) }
  const response = await app.api.handle(
    new Request(`http://localhost/api/v1/iframes/${id}/sessions/${sessionId}/events`, {
      headers: { authorization: `Bearer ${token}`, origin: SHOP, ...resume },
      signal: leaving.signal,
    }),
  )
  return { ...heardFrom(response), leave: () => leaving.abort() }
}

/** Reads a stream of events as it comes. */
export function heardFrom(response: Response) {
  const heard: Heard[] = []
  let ended = false
  const waiting = new Set<() => void>()
  const done = (async () => {
    const decoder = new TextDecoder()
    let text = ''
    for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(bytes, { stream: true })
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const frame of frames) if (!frame.startsWith(':')) heard.push(readFrame(frame))
      for (const wake of waiting) wake()
    }
  })()
    .catch(() => undefined)
    .finally(() => {
      ended = true
      for (const wake of waiting) wake()
    })
  async function until(fits: (one: Heard) => boolean): Promise<Heard> {
    for (;;) {
      const found = heard.find(fits)
      if (found) return found
      if (ended) throw new Error(`ended without it: ${JSON.stringify(heard)}`)
      await new Promise<void>((resolve) => {
        const wake = () => {
          waiting.delete(wake)
          resolve()
        }
        waiting.add(wake)
      })
    }
  }
  return { status: response.status, heard, until, done, hasEnded: () => ended }
}

function readFrame(frame: string): Heard {
  const lines = new Map(
    frame.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  )
  const id = lines.get('id')
  return {
    event: lines.get('event') ?? '',
    id: id === undefined ? null : Number(id),
    data: JSON.parse(lines.get('data') ?? '{}'),
  }
}

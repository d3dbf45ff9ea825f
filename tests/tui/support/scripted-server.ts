import { DIFF, NOTES, submission, TALK, VISITOR } from './mock-rows'
import { type MockUp, mockUp } from './mock-up'

export type ScriptedServer = ReturnType<typeof startScripted>

const json = (body: object) => Response.json(body, { headers: { 'x-request-id': 'req_test' } })

type Event = Record<string, unknown> & { type: string }
/** How the server behaves to everyone who connects from then on. */
export type Manner = {
  change?(topics: MockUp): MockUp
  hello?: Partial<{ role: string; version: string }>
  /** Topics that are told as failed. */
  failed?: readonly string[]
  /** Nothing follows the greeting. */
  slow?: boolean
  /** As behind a proxy that collects the stream. */
  mute?: boolean
}

/** A server of operators that shows the mock-ups. */
export function startScripted(manner: Manner = {}) {
  const open = new Set<ReadableStreamDefaultController<string>>()
  let isDown = false
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 255,
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url)
      const path = pathname.replace('/ops/v1/', '')
      if (isDown) return new Response('', { status: 503 })
      if (path === 'keys' && request.method === 'POST') return json(MADE)
      if (path === 'status') return json({ object: 'status' })
      const topics = (searchParams.get('topics') ?? '').split(',') as (keyof MockUp)[]
      if (path === 'snapshot') return json({ topics: snapshots(topics) })
      if (path === 'stream') return stream(topics)
      if (path.startsWith('jobs/')) return json(jobLog(Date.now()))
      if (path.startsWith('requests/')) return json({ steps: STEPS })
      if (path === 'submissions/sub_1') return json(submission(new Date(Date.now() - 95_400_000).toISOString()))
      if (path === 'submissions/sub_1/diff') return json(DIFF)
      if (path.startsWith('iframes/')) return json({ messages: talk(), notes: NOTES, visitor: VISITOR })
      return Response.json({ error: { message: 'There is no such thing.', code: 'not_found' } }, { status: 404 })
    },
  })

  function snapshots(topics: readonly (keyof MockUp)[]) {
    const now = Date.now()
    const all = (manner.change ?? ((same) => same))(mockUp(now))
    return topics.map((topic) => ({ topic, ...all[topic], at: new Date(now).toISOString() }))
  }

  function stream(topics: readonly (keyof MockUp)[]): Response {
    const { hello, failed = [], slow, mute } = manner
    const greeting = {
      type: 'hello',
      operator: 'sam',
      role: 'admin',
      version: '0.1.0',
      holder: 'operator:sam',
      ...hello,
    }
    const notices: Event[] = snapshots(topics).map((one) =>
      failed.includes(one.topic)
        ? { type: 'failed', seq: 1, topic: one.topic, message: 'It could not be read.', at: one.at }
        : { type: 'snapshot', seq: 1, ...one },
    )
    let mine: ReadableStreamDefaultController<string>
    const body = new ReadableStream<string>({
      start(controller) {
        mine = controller
        open.add(controller)
        if (mute) return
        for (const event of [greeting, ...(slow ? [] : notices)]) controller.enqueue(frame(event))
      },
      cancel: () => void open.delete(mine),
    })
    const bytes = body.pipeThrough(new TextEncoderStream() as never)
    return new Response(bytes as never, { headers: { 'content-type': 'text/event-stream' } })
  }

  // As the real one, so that silence means a fault.
  const beating = setInterval(() => {
    if (!manner.mute) for (const controller of open) controller.enqueue(': keep-alive\n\n')
  }, 2_000)
  return {
    url: `http://127.0.0.1:${server.port}`,
    become: (next: Manner) => {
      manner = next
    },
    /** Ends the streams, and answers nothing more. */
    goDown() {
      isDown = true
      for (const controller of open) controller.close()
      open.clear()
    },
    comeBack() {
      isDown = false
    },
    stop: () => {
      clearInterval(beating)
      return server.stop(true)
    },
  }
}

/** What a research did so far, and what became of a request without credit. */
const jobLog = (now: number) => ({
  ...{ cost_cents: null, webhooks: 2 },
  steps: [
    ['plan', 36],
    ['search', 34],
    ['read', 25],
  ].map(([detail, ago]) => ({
    ...{ what: 'stage', attempt: 1, detail },
    at: new Date(now - Number(ago) * 1_000).toISOString(),
  })),
})
const STEPS = [
  { kind: 'stage', name: 'guard input', ms: 1, facts: {} },
  { kind: 'stage', name: 'route', ms: 2, facts: {} },
  { kind: 'stage', name: 'hold', ms: 1, facts: { failed: 'insufficient_credits' } },
]

const MADE = {
  ...{ id: 'k9', name: 'Batch worker', prefix: 'svc_sk_live_4Tq9', tier: 'free', scopes: ['completions'] },
  key: ['svc_sk_live', '4Tq9mZ7XbV2pK8sYcR1nW6eHdL3uJ0gAfQ5tBvNxE4kPzLwa'].join('_'),
}

const frame = (event: object) => `data: ${JSON.stringify(event)}\n\n`

const talk = () =>
  TALK.map(([role, content], at) => ({
    id: `m${at}`,
    ...{ role, content },
    created_at: new Date(Date.now() - (TALK.length - at) * 60_000).toISOString(),
  }))

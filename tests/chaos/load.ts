import type { Random } from '../support/random'
import { type Client, createClient, type Json, type Outcome } from './client'
import type { Known, Witness } from './witness'

export const CLIENTS = 32

/** Shares of a hundred requests. */
const MIX = {
  complete: 24,
  stream: 14,
  chat: 12,
  chatStream: 6,
  createKey: 8,
  continued: 14,
  rename: 6,
  remove: 4,
  read: 12,
} as const

type Deps = { url: string; key: string; witness: Witness; random: Random; faults: string[] }

/** Starts the clients; each works on its own conversations, one request after another, until the server is gone. */
export function startLoad(deps: Deps): { stop(): Promise<void> } {
  let stopping = false
  const client = createClient(deps.url, deps.key)
  const workers = Array.from({ length: CLIENTS }, () => work({ ...deps, client, isOver: () => stopping }))
  return {
    async stop() {
      stopping = true
      await Promise.all(workers)
    },
  }
}

type Worker = Deps & { client: Client; isOver(): boolean }

let prompts = 0

async function work(worker: Worker): Promise<void> {
  const own: Known[] = []
  const acts = actsOf(worker, own)
  while (!worker.isOver()) {
    const outcome = await acts[worker.random.weighted(MIX)]()
    if (outcome.is === 'unknown') return
    if (outcome.is === 'refused') worker.faults.push(`${outcome.status} ${outcome.text.slice(0, 200)}`)
  }
}

/** What a client does, each answering what came of it; what was acknowledged is with the witness before it returns. */
function actsOf({ client, witness, random }: Worker, own: Known[]) {
  const live = () => own.filter(({ deleted, pending }) => !deleted && !Object.keys(pending).length)

  return {
    async complete() {
      const prompt = newPrompt(random)
      return noted('completion', await client.send('POST', 'completions', { prompt, mode: 'fast' }), (body) => {
        paid(body.request_id, body.usage.cost_cents)
        begun(body.conversation_id, prompt, body.content)
      })
    },

    async stream() {
      const prompt = newPrompt(random)
      return noted('stream', await client.stream('completions', { prompt, mode: 'fast' }), ({ frames }) => {
        const done = frames.at(-1)
        paid(done.request_id, done.usage.cost_cents)
        begun(done.conversation_id, prompt, done.content)
      })
    },

    async chat() {
      const order = { model: 'svc-1-flash', messages: [{ role: 'user', content: newPrompt(random) }] }
      return noted('chat', await client.send('POST', 'chat/completions', order), (body) =>
        paid(body.request_id, body.svc_metadata.cost_cents),
      )
    },

    async chatStream() {
      const order = { model: 'svc-1-flash', messages: [{ role: 'user', content: newPrompt(random) }] }
      return noted('chat stream', await client.stream('chat/completions', order), ({ frames }, requestId) =>
        paid(requestId, frames.at(-1).svc_metadata.cost_cents),
      )
    },

    async createKey() {
      const name = `key ${++prompts}`
      return noted('key', await client.send('POST', 'keys', { name }), (body) => {
        witness.keys.push({ id: body.id, name, secret: body.key })
      })
    },

    async continued() {
      const known = anyOf(live())
      if (!known) return this.complete()
      const prompt = newPrompt(random)
      known.pending = { turn: prompt }
      const order = { prompt, mode: 'fast', conversation_id: known.id }
      return noted('turn', await client.send('POST', 'completions', order), (body) => {
        paid(body.request_id, body.usage.cost_cents)
        known.turns.push({ prompt, answer: body.content })
        known.pending = {}
      })
    },

    async rename() {
      const known = anyOf(live())
      if (!known) return this.complete()
      const title = `name ${++prompts}`
      known.pending = { title }
      return noted('rename', await client.send('PATCH', `conversations/${known.id}`, { title }), () => {
        known.title = title
        known.pending = {}
      })
    },

    async remove() {
      const known = anyOf(live())
      if (!known) return this.complete()
      known.pending = { deletion: true }
      return noted('deletion', await client.send('DELETE', `conversations/${known.id}`), () => {
        known.deleted = true
        known.pending = {}
      })
    },

    read: (): Promise<Outcome<Json>> =>
      client.send('GET', random.pick(['conversations?limit=5', 'keys?limit=5', 'models', 'rate-limits'])),
  }

  function noted<T>(kind: string, outcome: Outcome<T>, note: (body: T, requestId: string) => void): Outcome<T> {
    if (outcome.is !== 'acked') return outcome
    note(outcome.value, outcome.requestId)
    witness.acked(kind, outcome.requestId, outcome.value)
    return outcome
  }

  function paid(requestId: string, costCents: number): void {
    witness.answers.push({ requestId, costCents })
  }

  function begun(id: string, prompt: string, answer: string): void {
    const known: Known = { id, turns: [{ prompt, answer }], title: null, deleted: false, pending: {} }
    own.push(known)
    witness.conversations.push(known)
  }

  function anyOf<T>(items: readonly T[]): T | null {
    return items.length ? random.pick(items) : null
  }
}

/** Never the same twice, so that no answer comes from the cache; one in four takes its time. */
function newPrompt(random: Random): string {
  const number = ++prompts
  const pace = random.between(1, 4) === 1 ? ' [[slow:8]][[delay:10]]' : ''
  return `Question ${number}. [[say:This is answer ${number} of the scripted engine.]]${pace}`
}

import type { Random } from '../support/random'
import type { ScriptedStripe } from '../support/stripe'
import type { Client, Json, Outcome } from './client'
import type { Endpoint } from './endpoint'
import { PURCHASE_CENTS, tell } from './purchases'
import type { KeyAck, Keyed, Known, Made, Witness } from './witness'

type Deps = { client: Client; stripe: ScriptedStripe; endpoint: Endpoint; witness: Witness; random: Random }

let made = 0

/** Name of each event that a client publishes. Nothing listens to it. */
const EVENT_TYPE = 'chaos.happened'

/** The paths of things that are made and deleted, with what each needs beside a name. */
const THINGS: Record<string, object> = {
  'routing-preferences': { rules: [{ pattern: '^a', target_mode: 'code', confidence: 0.9 }] },
  'guardrail-policies': { rules: [] },
  workflows: { triggerType: 'manual', steps: [{ type: 'transform', name: 'a', config: { template: 'x' } }] },
  'test-cases': { request: { prompt: 'hello' }, checks: [] },
}
/** Of what one client keeps, before it deletes. */
const MAX_THINGS = 2

/**
 * What a client does, each answering what came of it; what was acknowledged is with the witness before it
 * returns. Every POST that answers JSON carries an Idempotency-Key, so that it can be asked again.
 */
export function actsOf({ client, stripe, endpoint, witness, random }: Deps) {
  const own: Known[] = []
  const ownKeys: KeyAck[] = []
  const things: Made[] = []
  let userId: string | null = null
  const live = () => own.filter(({ deleted, pending }) => !deleted && !Object.keys(pending).length)

  return {
    complete,

    async stream() {
      const prompt = newPrompt(random)
      return noted('stream', await client.stream('completions', { prompt, mode: 'fast' }), ({ frames }) => {
        const done = frames.at(-1)
        paid(done.request_id, done.usage.cost_cents)
        begun(done.conversation_id, prompt, done.content)
      })
    },

    /** Three turns, two of them with calls of a tool that takes its time. */
    async act() {
      const { prompt, ...input } = acting()
      return post('act', 'completions', { prompt, ...input }, (body) => {
        paid(body.request_id, body.usage.cost_cents)
        begun(body.conversation_id, prompt, body.content)
      })
    },

    async actStream() {
      const { prompt, ...input } = acting()
      return noted('act stream', await client.stream('completions', { prompt, ...input }), ({ frames }) => {
        const done = frames.at(-1)
        paid(done.request_id, done.usage.cost_cents)
        begun(done.conversation_id, prompt, done.content)
      })
    },

    async chat() {
      const input = { model: 'svc-1-flash', messages: [{ role: 'user', content: newPrompt(random) }] }
      return post('chat', 'chat/completions', input, (body) => paid(body.request_id, body.svc_metadata.cost_cents))
    },

    async chatStream() {
      const input = { model: 'svc-1-flash', messages: [{ role: 'user', content: newPrompt(random) }] }
      return noted('chat stream', await client.stream('chat/completions', input), ({ frames }, requestId) =>
        paid(requestId, frames.at(-1).svc_metadata.cost_cents),
      )
    },

    async createKey() {
      const name = `key ${++made}`
      return post('key', 'keys', { name }, (body) => {
        const key = { id: body.id, name, secret: body.key, rotations: 0, rotating: false }
        witness.keys.push(key)
        ownKeys.push(key)
      })
    },

    async rotateKey() {
      const key = anyOf(ownKeys)
      if (!key) return complete()
      key.rotating = true
      return post('rotation', `keys/${key.id}/rotate`, { grace_period_seconds: 0 }, (body) => {
        Object.assign(key, { secret: body.key, rotations: key.rotations + 1, rotating: false })
      })
    },

    /** Makes something with a name, or deletes the first that it made. */
    async make() {
      const [oldest] = things
      if (oldest && things.length > MAX_THINGS) {
        things.shift()
        oldest.deleting = true
        return noted('removal', await client.send('DELETE', `${oldest.path}/${oldest.id}`), () => {
          Object.assign(oldest, { deleted: true, deleting: false })
        })
      }
      const name = `thing ${++made}`
      const path = random.pick(Object.keys(THINGS))
      return post(path, path, { name, ...THINGS[path] }, (body) => {
        const id = (body.workflow ?? body.test_case ?? body).id
        const thing = { path, id, name, deleted: false, deleting: false }
        things.push(thing)
        witness.made.push(thing)
      })
    },

    /** A workflow is run by jobs; the answer waits for their end. */
    async run() {
      const workflow = things.find(({ path }) => path === 'workflows')
      if (!workflow) return this.make()
      return noted('run', await client.send('POST', `workflows/${workflow.id}/run`, {}), ({ run }) => {
        if (run.status === 'completed') witness.runs.push(run.id)
      })
    },

    async publish() {
      userId ??= await userOf(client)
      if (!userId) return complete()
      const input = { orgId: userId, eventType: EVENT_TYPE, payload: { number: ++made } }
      return post('event', 'events', input, ({ id }) => witness.events.push(id))
    },

    async createOrg() {
      const name = `org ${++made}`
      return post('org', 'orgs', { name }, (body) => witness.orgs.push({ id: body.id, name }))
    },

    /** Opens a checkout and pays it: the credit comes with the processor's event. */
    async buy() {
      const opened = await post('checkout', 'billing/checkout', { amount_cents: PURCHASE_CENTS }, (body) =>
        witness.purchases.push({ id: body.checkout_id, notify: false }),
      )
      if (opened.is !== 'acked') return opened
      const purchase = witness.purchases.find(({ id }) => id === opened.value.checkout_id)!
      return noted('purchase', await tell(client, stripe, purchase), () => {
        purchase.notify = true
      })
    },

    async prefer() {
      const outcome = await client.send('PATCH', 'settings', { svc_branding: random.between(0, 1) === 1 })
      return noted('settings', outcome, (_, requestId) => witness.settings.push(requestId))
    },

    async continued() {
      const known = anyOf(live())
      if (!known) return complete()
      const prompt = newPrompt(random)
      known.pending = { turn: prompt }
      const input = { prompt, mode: 'fast', conversation_id: known.id }
      return post('turn', 'completions', input, (body) => {
        paid(body.request_id, body.usage.cost_cents)
        known.turns.push({ prompt, answer: body.content })
        known.pending = {}
      })
    },

    async rename() {
      const known = anyOf(live())
      if (!known) return complete()
      const title = `name ${++made}`
      known.pending = { title }
      return noted('rename', await client.send('PATCH', `conversations/${known.id}`, { title }), () => {
        known.title = title
        known.pending = {}
      })
    },

    async remove() {
      const known = anyOf(live())
      if (!known) return complete()
      known.pending = { deletion: true }
      return noted('deletion', await client.send('DELETE', `conversations/${known.id}`), () => {
        known.deleted = true
        known.pending = {}
      })
    },

    read: (): Promise<Outcome<Json>> =>
      client.send('GET', random.pick(['conversations?limit=5', 'keys?limit=5', 'models', 'rate-limits'])),
  }

  function acting() {
    const ms = () => `{"ms":${random.between(0, 60)}}`
    const plan = `[[while:Wait.]][[plan:wait${ms()};wait${ms()}|wait${ms()}]]`
    return { prompt: `${newPrompt(random)} ${plan}`, mode: 'fast', tools: [endpoint.tool] }
  }

  async function complete(): Promise<Outcome<Json>> {
    const prompt = newPrompt(random)
    return post('completion', 'completions', { prompt, mode: 'fast' }, (body) => {
      paid(body.request_id, body.usage.cost_cents)
      begun(body.conversation_id, prompt, body.content)
    })
  }

  /** Sends under a key of its own; what nobody knows the end of is left for the next start. */
  async function post(kind: string, path: string, body: unknown, note: Keyed['note']): Promise<Outcome<Json>> {
    const request = { kind, path, body, note, key: `kill-${++made}` }
    const outcome = noted(kind, await client.send('POST', path, body, request.key), note)
    if (outcome.is === 'unknown') witness.unfinished.push(request)
    if (outcome.is === 'acked') witness.answered.push({ ...request, text: outcome.text })
    return outcome
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
  const number = ++made
  const pace = random.between(1, 4) === 1 ? ' [[slow:8]][[delay:10]]' : ''
  return `Question ${number}. [[say:This is answer ${number} of the scripted engine.]]${pace}`
}

/** Null if there was no answer. */
async function userOf(client: Client): Promise<string | null> {
  const outcome = await client.send('GET', 'auth/me')
  return outcome.is === 'acked' ? (outcome.value.active_org_id ?? outcome.value.user.id) : null
}

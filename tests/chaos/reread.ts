import { createClient, type Json, type Outcome, type Started, whenReady } from './client'
import { inParallel } from './parallel'
import type { KeyAck, Known, Made, Witness } from './witness'

type Read = (path: string) => Promise<Outcome<Json>>

/**
 * Reads back through the API what was acknowledged, and says what is missing or different. What was in
 * flight when the server died may have happened or not; which of the two is taken as known from here on.
 */
export async function reread(
  server: Started,
  { conversations, keys, made }: Pick<Witness, 'conversations' | 'keys' | 'made'>,
): Promise<string[]> {
  const readAs = (key: string) => (path: string) =>
    whenReady(server, () => createClient(server.url, key).send('GET', path))
  const read = readAs(server.key)
  const found = await inParallel(conversations, async (known) => {
    const outcome = await read(`conversations/${known.id}`)
    if (outcome.is === 'unknown') return [`conversation ${known.id} could not be read`]
    return outcome.is === 'acked' ? compare(known, outcome.value.conversation) : compareGone(known, outcome)
  })
  const usable = await inParallel(keys, (each) => useKey(readAs(each.secret), each))
  const there = await inParallel(made, (thing) => findAgain(read, thing))
  return [...found, ...usable, ...there]
}

async function findAgain(read: Read, thing: Made): Promise<string[]> {
  const outcome = await read(`${thing.path}/${thing.id}`)
  const isThere = outcome.is === 'acked'
  if (!isThere && (outcome.is === 'unknown' || outcome.status !== 404))
    return [`${thing.path}/${thing.id} could not be read: ${outcome.is === 'refused' ? outcome.text : outcome.is}`]
  if (isThere === thing.deleted && !thing.deleting)
    return [`${thing.path}/${thing.id} was acknowledged, and is ${isThere ? 'back' : 'gone'}`]
  Object.assign(thing, { deleted: !isThere, deleting: false })
  return []
}

function compareGone(known: Known, { status, text }: { status: number; text: string }): string[] {
  const expected = known.deleted || known.pending.deletion
  known.deleted = true
  known.pending = {}
  if (expected && status === 404) return []
  return [`conversation ${known.id} was acknowledged and answers ${status === 404 ? status : text.slice(0, 200)}`]
}

function compare(known: Known, now: Json): string[] {
  if (known.deleted) return [`conversation ${known.id} was deleted and is back`]
  const { pending } = known
  const problems: string[] = []
  const turns = turnsOf(now.messages)
  const extra = turns.slice(known.turns.length)
  const agrees = known.turns.every(
    ({ prompt, answer }, at) => turns[at]?.prompt === prompt && turns[at]?.answer === answer,
  )
  if (!agrees) problems.push(`conversation ${known.id} lost or changed a turn`)
  if (extra.length > 1 || (extra[0] && extra[0].prompt !== pending.turn)) {
    problems.push(`conversation ${known.id} has a turn nobody asked for`)
  }
  if (known.title !== null && now.title !== known.title && now.title !== pending.title) {
    problems.push(`conversation ${known.id} is called "${now.title}", not "${known.title}"`)
  }
  known.turns = turns
  if (now.title === pending.title) known.title = now.title
  known.pending = {}
  return problems
}

function turnsOf(messages: { role: string; content: string }[]) {
  const turns = []
  for (let at = 0; at < messages.length; at += 2) {
    turns.push({ prompt: messages[at]!.content, answer: messages[at + 1]?.content ?? '' })
  }
  return turns
}

/** A key that was handed out works, and is the key it was. A rotation without an answer may have ended its secret. */
async function useKey(read: Read, { id, name, rotating }: KeyAck): Promise<string[]> {
  const outcome = await read(`keys/${id}`)
  if (outcome.is === 'unknown') return [`key ${id} could not be read`]
  if (outcome.is === 'refused')
    return rotating && outcome.status === 401 ? [] : [`key ${id} was acknowledged and answers ${outcome.status}`]
  return outcome.value.name === name ? [] : [`key ${id} is called "${outcome.value.name}", not "${name}"`]
}

import { expect, test } from 'bun:test'
import type { OpenApp } from '../../src/app/open'
import { isLong } from '../support/long'
import { seededRandom } from '../support/random'
import { postgresUrl } from '../support/store'
import { openSecond, violationsOf, watchCommits } from './races'
import { createWidgetWorld, SHOP } from './world'

if (!postgresUrl) process.stdout.write('NOT RUN: races of two processes, because SVC_TEST_POSTGRES_URL is not set.\n')

const ROUNDS = isLong ? 300 : 120
const CHATS = 30
const PATIENCE_MS = 300_000

const world = await createWidgetWorld({
  config: { widgetSessionsPerHour: 1_000, widgetMessagesPerMinute: 100_000 },
})
const commits = await watchCommits(world)

/** One round: a visitor, two operators, a release and the clock, at once and in any order. */
async function races(apps: readonly OpenApp[]) {
  const { id, owner } = await world.widget({ security: { maxMessagesPerSession: 10_000 } })
  const chats = await Promise.all(Array.from({ length: CHATS }, () => world.begin(id)))
  const { pick, between } = seededRandom(7)
  const send = async (method: string, path: string, body: object, headers: Record<string, string>) => {
    const request = new Request(`http://localhost/api/v1/iframes/${id}/${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const response = await pick(apps).api.handle(request)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const seen = { answered: 0, silent: 0, statuses: new Set<number>() }
  const round = async (at: number) => {
    const { sessionId, token } = chats[at % CHATS]!
    const operate = (verb: string, body: object = {}) =>
      send('POST', `conversations/${sessionId}/${verb}`, body, { authorization: `Bearer ${owner.key}` })
    const ask = async () => {
      const visitor = { authorization: `Bearer ${token}`, origin: SHOP }
      const { status, body } = await send(
        'POST',
        `sessions/${sessionId}/messages`,
        { content: `What is ${at} + 1?` },
        visitor,
      )
      seen.statuses.add(status)
      if (body.reply) seen.answered += 1
      else seen.silent += 1
    }
    const moves = [
      ask,
      () => operate('takeover', { operator_name: 'Ann' }),
      () => operate('takeover', { operator_name: 'Bob', force: between(0, 1) === 1 }),
      () => operate('release'),
      async () => {
        await commits.age(sessionId)
        await pick(apps).container.takeovers.endSilent()
      },
      () => operate('messages', { content: 'Hello' }),
    ]
    const begun = moves.map(async (move) => {
      await Bun.sleep(between(0, 25))
      await move()
    })
    await Promise.all(begun)
    await operate('release')
  }
  for (let at = 0; at < ROUNDS; at += CHATS) await Promise.all(chats.map((_, chat) => round(at + chat)))
  return seen
}

test(
  'the AI never answers while a person has the chat, nor what was asked before (I36, M10)',
  async () => {
    const seen = await races([world.app])
    expect([...seen.statuses]).toEqual([200])
    const log = await commits.log()
    expect(violationsOf(log)).toEqual([])
    expect(seen.answered + seen.silent).toBe(ROUNDS)
    expect(seen.answered).toBe(log.filter(({ what }) => what === 'assistant').length)
    expect(Math.min(seen.answered, seen.silent)).toBeGreaterThan(5)
  },
  PATIENCE_MS,
)

test.skipIf(!postgresUrl)(
  'the same with two processes (I36)',
  async () => {
    const before = (await commits.log()).length
    const seen = await races([world.app, await openSecond(world)])
    const log = (await commits.log()).slice(before)
    expect(violationsOf(log)).toEqual([])
    expect([...seen.statuses]).toEqual([200])
    expect(seen.answered).toBe(log.filter(({ what }) => what === 'assistant').length)
  },
  PATIENCE_MS,
)

test('the model finds what is wrong', () => {
  const of = (words: string) => violationsOf(words.split(' ').map((what) => ({ chat: 'c', what })))
  expect(of('user assistant human user ai user assistant')).toEqual([])
  for (const wrong of ['user human assistant', 'user human ai assistant', 'human user ai assistant'])
    expect(of(wrong)).toHaveLength(1)
})

import { expect, test } from 'bun:test'
import type { OpenApp } from '../../src/app/open'
import { isLong } from '../support/long'
import { seededRandom } from '../support/random'
import { postgresUrl } from '../support/store'
import { openSecond, raced, races, violationsOf, watchCommits } from './races'
import { createWidgetWorld } from './world'

if (!postgresUrl) process.stdout.write('NOT RUN: races of two processes, because SVC_TEST_POSTGRES_URL is not set.\n')

const ROUNDS = isLong ? 300 : 120
const PATIENCE_MS = 300_000

const world = await createWidgetWorld({ config: { widgetSessionsPerHour: 1_000, widgetMessagesPerMinute: 100_000 } })
const commits = await watchCommits(world)

async function racesOf(apps: readonly OpenApp[]) {
  const { id, owner } = await world.widget({ security: { maxMessagesPerSession: 10_000 } })
  const { pick, between } = seededRandom(7)
  return races({
    rounds: ROUNDS,
    key: owner.key,
    chats: await raced(() => world.begin(id)),
    between,
    async send(method, path, body, headers) {
      const request = new Request(`http://localhost/api/v1/iframes/${id}/${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      const response = await pick(apps).api.handle(request)
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    },
    async silent(sessionId) {
      await commits.age(sessionId)
      await pick(apps).container.takeovers.endSilent()
    },
  })
}

test(
  'the AI never answers while a person has the chat, nor what was asked before (I36, M10)',
  async () => {
    const seen = await racesOf([world.app])
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
  'the same with two apps on one database (I36)',
  async () => {
    const before = (await commits.log()).length
    const seen = await racesOf([world.app, await openSecond(world)])
    const log = (await commits.log()).slice(before)
    expect(violationsOf(log)).toEqual([])
    expect([...seen.statuses]).toEqual([200])
    expect(seen.answered).toBe(log.filter(({ what }) => what === 'assistant').length)
    expect(await commits.deadlocks()).toBe(0)
  },
  PATIENCE_MS,
)

test('the model finds what is wrong', () => {
  const of = (words: string) => violationsOf(words.split(' ').map((what) => ({ chat: 'c', what })))
  expect(of('user assistant human user ai user assistant')).toEqual([])
  for (const wrong of ['user human assistant', 'user human ai assistant', 'human user ai assistant'])
    expect(of(wrong)).toHaveLength(1)
})

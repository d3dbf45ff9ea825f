import { afterAll, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresUrl } from '../support/store'
import { startTarget, type Target } from './support'
import { keepsItsPromises } from './support/oracle'
import { spawnServer } from './support/server'

/** A: passwords are guessed from many addresses. The test is the proxy that says where each guess comes from. */

const env = { SVC_TRUSTED_PROXIES: '127.0.0.1/32,::1/128' }
const target = await startTarget({ env })

const passwordOf = (email: string) => `pw-${email}-canary-7f3a`
const signIn = (email: string, password: string, ip: string, node: Pick<Target, 'url'> = target) =>
  fetch(`${node.url}/api/v1/auth/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': ip },
    body: JSON.stringify({ email, password }),
  })

/** The statuses of 240 wrong passwords from 30 addresses, eight at a time, and everything that was answered. */
async function guess(email: string, nodes: readonly Pick<Target, 'url'>[] = [target]) {
  const statuses: number[] = []
  const bodies: string[] = []
  for (let from = 0; from < 240; from += 8) {
    const some = Array.from({ length: 8 }, (_, n) => from + n)
    const answers = await Promise.all(
      some.map((n) => signIn(email, `guess ${n}`, `203.0.113.${n % 30}`, nodes[n % nodes.length])),
    )
    for (const answer of answers) {
      statuses.push(answer.status)
      bodies.push((await answer.text()).replace(/req_\w+|\d+ s\./g, ''))
      if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
  }
  return { tried: statuses.filter((status) => status === 401).length, statuses: new Set(statuses), bodies }
}

describe('A. guessing', () => {
  test('A24 of 240 wrong passwords from 30 addresses ten are tried; the owner comes in from where they were', async () => {
    const { email } = await target.people.newcomer()
    const home = '198.51.100.7'
    expect((await signIn(email, passwordOf(email), home)).status).toBe(201)
    const { tried, statuses } = await guess(email)
    expect({ tried, statuses }).toEqual({ tried: 10, statuses: new Set([401, 429]) })
    expect((await signIn(email, passwordOf(email), home)).status).toBe(201)
  })

  test('A24 answers do not reveal whether an account exists', async () => {
    const { email } = await target.people.newcomer()
    const [known, unknown] = [await guess(email), await guess(`nobody-${crypto.randomUUID()}@example.com`)]
    expect(new Set(known.bodies)).toEqual(new Set(unknown.bodies))
    expect(unknown.tried).toBe(known.tried)
  })

  test.if(postgresUrl !== undefined)('A24 two nodes try ten together', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-catalogue-'))
    copyFileSync(join(target.folder, 'secrets.json'), join(folder, 'secrets.json'))
    const node = await spawnServer({ SVC_DATABASE_URL: target.databaseUrl!, ...env }, folder)
    afterAll(() => node.kill())
    expect((await guess((await target.people.newcomer()).email, [target, node])).tried).toBe(10)
  })
})

keepsItsPromises(target)

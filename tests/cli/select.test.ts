// SQLite only: what is printed of an answer is chosen by svc-admin.
import { describe, expect, test } from 'bun:test'
import { connectOps } from '../../src/app/client'
import { cliOver } from '../support/cli'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { fakeIo } from '../support/io'
import { createWorld } from '../support/world'

const world = await createWorld()
const ada = await world.person()
const run = (...line: string[]) => cliOver(world)(line, { key: ada.key })
for (const name of ['web', 'web old', 'worker']) await run('keys', 'create', '--name', name, '-q')
const names = async (...more: string[]) => {
  const { stdout } = await run('keys', 'list', '--json', '--fields', 'name', ...more)
  return (JSON.parse(stdout || '[]') as { name: string }[]).map(({ name }) => name).sort()
}

describe('--filter', () => {
  test.each([
    ['name:web', ['web', 'web old']],
    ['name:web*  !old', ['web']],
    ['worker', ['worker']],
    ['name:web,worker "web old"', ['web old']],
  ])('%s', async (filter, stored) => {
    expect(await names('--filter', filter)).toEqual(stored)
  })

  test('reads page after page until so many match', async () => {
    expect(await names('--filter', 'name:web*', '--limit', '1')).toHaveLength(1)
    expect(await names('--filter', 'name:web*', '--limit', '2')).toEqual(['web', 'web old'])
  })

  test.each([
    ['(', 'the "(" at position 1 is not closed'],
    ['name:web)', 'the ")" at position 9 has no matching "("'],
    ['name:"web', 'the quote at position 6 is not closed'],
  ])('refuses %s, which is not whole', async (filter, words) => {
    const { exitCode, stdout, stderr } = await run('keys', 'list', '--filter', filter)
    expect(exitCode).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(`--filter: ${words}`)
    expect((await run('keys', 'list', '--filter', '"("')).exitCode).toBe(0)
  })

  test('says that none matches, and names a field that there is not', async () => {
    const none = await run('keys', 'list', '--filter', 'name:nobody')
    expect(none).toMatchObject({ exitCode: 0, stdout: '', stderr: 'Nothing matches the filter.\n' })
    const wrong = await run('keys', 'list', '--filter', 'nmae:web')
    expect({ exitCode: wrong.exitCode, stdout: wrong.stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(wrong.stderr).toContain('there is no field "nmae". Did you mean "name"?')
  })
})

test('a watch in a pipe prints what changed, a line of JSON each', async () => {
  const [clock, io, ctrlC] = [fakeClock(), fakeIo(), new AbortController()]
  const options = { key: ada.key, clock, io, signal: ctrlC.signal }
  const watching = cliOver(world)(
    ['keys', 'list', '--filter', 'name:web,later', '--watch', '--fields', 'name'],
    options,
  )
  const lines = () => io.stdout().trim().split('\n').filter(Boolean)
  await eventually(() => lines().length === 2 && clock.wakesWithin(2_000))
  await run('keys', 'create', '--name', 'later', '-q')
  clock.advance(2_000)
  await eventually(() => lines().length === 3 && clock.wakesWithin(2_000))
  expect(lines().at(-1)).toBe('{"name":"later"}')
  ctrlC.abort()
  expect((await watching).exitCode).toBe(130)
})

describe('--retries', () => {
  /** A server that is not ready for so many requests; reports how many it was asked. */
  const request = async (notReady: number, retries: number, change = false) => {
    let requested = 0
    const handle = () => {
      requested += 1
      return Response.json({}, { status: requested <= notReady ? 503 : 200 })
    }
    const pauses: number[] = []
    const pause = async (ms: number) => {
      pauses.push(ms)
    }
    const client = connectOps({ kind: 'app', handle }, { headers: {}, retry: { retries, pause } })
    const { status } = change ? await client.backups.post() : await client.status.get()
    return { asked: requested, status, pauses }
  }

  test('a read is tried again after pauses that double, a change is not', async () => {
    expect(await request(2, 2)).toEqual({ asked: 3, status: 200, pauses: [250, 500] })
    expect(await request(9, 2)).toEqual({ asked: 3, status: 503, pauses: [250, 500] })
    expect(await request(9, 0)).toEqual({ asked: 1, status: 503, pauses: [] })
    expect(await request(9, 2, true)).toEqual({ asked: 1, status: 503, pauses: [] })
  })
})

import { afterAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { jobs } from '../../src/jobs/table'
import { checkQuotations, type Quotation } from '../../src/research/snapshots'
import { cliOver } from '../support/cli'
import { startResearchSite } from '../support/research-site'
import { createWorld, type Person } from '../support/world'

const site = startResearchSite()
afterAll(() => site.stop())
const world = await createWorld({ config: { egressAllow: '127.0.0.1/32' } })
const run = cliOver(world)
const { store, container } = world.app

async function researched(person: Person): Promise<string> {
  const prompt = `How tall is the lighthouse of Port Ellis?\n${site.urls.slice(0, 12).join('\n')}`
  const { body } = await person.send('POST', 'research', { prompt })
  await container.jobs.runDue()
  return body.job_id
}

/** Changes the stored result of a job, as someone with the database could. */
async function changed(id: string, change: (data: { report: string; quotations: Quotation[] }) => void) {
  const [row] = await store.read
    .select()
    .from(store.read.of(jobs))
    .where(eq(store.read.of(jobs).id, id as never))
  const result = row!.result as { text: string; data: { report: string; quotations: Quotation[] } }
  change(result.data)
  await store.write(async (tx) => {
    await tx
      .update(tx.of(jobs))
      .set({ result })
      .where(eq(tx.of(jobs).id, id as never))
  })
}

describe('a report', () => {
  test('is checked again with its site gone, by its owner and by operators', async () => {
    const ada = await world.person()
    const id = await researched(ada)
    const reads = site.read.length
    const { status, body } = await ada.send('GET', `jobs/${id}/verification`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ job_id: id, sound: true, problems: [] })
    expect(body.quotations).toBeGreaterThan(3)
    expect(body.found).toBe(body.quotations)
    const { exitCode, stdout } = await run(['jobs', 'verify', id, '--json'])
    expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({ exitCode: 0, sound: true })
    expect(site.read.length).toBe(reads)
  })

  test('that was changed does not hold, and says where', async () => {
    const ada = await world.person()
    const id = await researched(ada)
    await changed(id, (data) => {
      data.quotations[0]!.start += 1
    })
    const { exitCode, stderr } = await run(['jobs', 'verify', id])
    expect(exitCode).toBe(9)
    expect(stderr).toContain('Quotation 1, of source 1: its words are not at their position in the snapshot.')
    await changed(id, (data) => {
      data.quotations[0]!.start -= 1
      data.report = data.report.replace('42 metres', '43 metres')
    })
    const { body } = await ada.send('GET', `jobs/${id}/verification`)
    expect(body.sound).toBe(false)
    expect(body.problems.join(' ')).toContain('its statement is not in the report')
    expect(body.problems.join(' ')).toContain('The report differs from the one in its data.')
  })

  test('whose snapshots were deleted says so', async () => {
    const ada = await world.person()
    const id = await researched(ada)
    const { body: job } = await ada.send('GET', `jobs/${id}`)
    await ada.send('DELETE', `artifacts/${job.result_data.snapshots.artifact_id}`)
    const { body } = await ada.send('GET', `jobs/${id}/verification`)
    expect(body).toMatchObject({ sound: false, found: 0 })
    expect(body.problems[0]).toContain('no longer exists')
  })

  test('of a job that is none is a conflict', async () => {
    const ada = await world.person()
    const { body } = await ada.send('POST', 'research', { prompt: 'What of nothing?' })
    await container.jobs.runDue()
    expect((await ada.send('GET', `jobs/${body.job_id}/verification`)).status).toBe(409)
    expect((await run(['jobs', 'verify', body.job_id])).exitCode).toBe(5)
  })
})

describe('a check of quotations', () => {
  const text = 'Ebbe und Flut – zweimal am Tag. The tower is 42 m tall.'
  const start = Buffer.from(text).indexOf('The tower')
  const sha256 = new Bun.CryptoHasher('sha256').update(text).digest('hex')
  const quote = 'The tower is 42 m tall.'
  const one = { citation: 1, statement: `“${quote}”`, quote, start, end: start + quote.length, sha256 }
  const stored = { version: 1 as const, snapshots: [{ sha256, title: 'T', url: null, text }] }
  const report = `# R\n\n- “${quote}” [1][2]\n`

  test('counts bytes, not letters', () => {
    expect(start).not.toBe(text.indexOf('The tower'))
    expect(checkQuotations(report, [one], stored)).toEqual({ found: 1, problems: [] })
  })

  test.each([
    ['another source', { citation: 3 }, 'does not cite its source'],
    ['other words', { quote: 'The tower is 43 m tall.' }, 'are not at their position in the snapshot'],
    ['another place', { start: 0 }, 'are not at their position in the snapshot'],
    ['another snapshot', { sha256: 'f'.repeat(64) }, 'its snapshot is missing'],
    ['another statement', { statement: 'The tower is tall.' }, 'its statement is not in the report'],
  ])('finds %s', (_, change, problem) => {
    const { found, problems } = checkQuotations(report, [{ ...one, ...change }], stored)
    expect(found).toBe(0)
    expect(problems[0]).toContain(problem)
  })

  test('finds a snapshot whose text is not what was hashed', () => {
    const other = { ...stored, snapshots: [{ ...stored.snapshots[0]!, text: `${text} More.` }] }
    expect(checkQuotations(report, [one], other).problems[0]).toContain('was changed after it was read')
  })
})

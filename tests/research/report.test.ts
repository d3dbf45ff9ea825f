import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { PLANTED, startResearchSite } from '../support/research-site'
import { createWorld } from '../support/world'

// Real work on threads, perhaps beside much else.
setDefaultTimeout(90_000)

const site = startResearchSite()
afterAll(() => site.stop())
const world = await createWorld({
  config: { egressAllow: '127.0.0.1/32', searchDriver: 'searxng', searchBaseUrl: site.origin },
})
const QUESTION = 'When was the lighthouse of Port Ellis built, how tall is it and how far can its lamp be seen?'

async function researched(body: Record<string, unknown>) {
  const ada = await world.person()
  const { status, body: handle } = await ada.send('POST', 'research', body)
  expect(status).toBe(202)
  await world.app.container.jobs.runDue()
  const job = (await ada.send('GET', `jobs/${handle.job_id}`)).body
  return { ada, handle, job, data: job.result_data }
}
type Quotation = { citation: number; statement: string; quote: string; start: number; end: number; sha256: string }

describe('a research on a site of thirty pages', () => {
  const done = researched({ prompt: `Research this: ${QUESTION}\n${site.urls.join('\n')}`, max_sources: 30 })

  test('is a job with a report of numbered citations', async () => {
    const { handle, job, data } = await done
    expect(handle).toMatchObject({ object: 'research', status: 'queued', poll_url: `/api/v1/jobs/${handle.job_id}` })
    expect(handle.id).toMatch(/^res_/)
    expect(job).toMatchObject({ type: 'research', status: 'completed', progress: 100, error: null })
    expect(job.result).toBe(data.report)
    expect(job.result).toMatch(/^# /)
    const copies = data.warnings.filter((one: string) => one.includes('repeats')).length
    expect(copies).toBeGreaterThanOrEqual(6)
    expect(data).toMatchObject({ depth: 'advanced', sources_consulted: 30 - copies, extractive: true })
    expect(job.result).toContain('No language model wrote')
    for (const { index, title, url } of data.citations) expect(job.result).toContain(`${index}. [${title}](<${url}>)`)
    expect(data.citations[0].published_at).toMatch(/^2025-03-0/)
  })

  test('has every quotation at its bytes in the snapshot of its source', async () => {
    const { ada, data } = await done
    const quotations: Quotation[] = data.quotations
    expect(quotations.length).toBeGreaterThan(10)
    const { url } = (await ada.send('GET', `artifacts/${data.snapshots.artifact_id}`)).body
    const { body: stored } = await ada.send('GET', new URL(url).pathname + new URL(url).search)
    const known = new Map<string, Buffer>()
    for (const { sha256, text } of stored.snapshots) {
      expect(createHash('sha256').update(text).digest('hex')).toBe(sha256)
      known.set(sha256, Buffer.from(text))
    }
    for (const { sha256, start, end, quote, statement, citation } of quotations) {
      expect(known.get(sha256)!.subarray(start, end).toString()).toBe(quote)
      expect(data.report).toContain(`${statement} `)
      expect(data.citations[citation - 1]).toBeDefined()
    }
  })

  test('answers what was asked, and names where sources disagree', async () => {
    const { data } = await done
    for (const text of ['1871', '42 metres', '31 kilometres']) expect(data.report).toContain(text)
    const about = data.disagreements.map((one: { about: string }) => one.about).join('\n')
    expect(about).toContain('1871 and 1874')
    expect(about).toContain('42 and 39')
    expect(about).toContain('not so')
    expect(data.report).toContain('## Where the sources disagree')
  })

  test('counts no mirror, quotes no footer and obeys no page', async () => {
    const { data } = await done
    const repeating = data.warnings.filter((one: string) => one.includes('repeats')).join('\n')
    for (let mirror = 13; mirror < 19; mirror++) expect(repeating).toContain(`${site.origin}/page/${mirror} repeats`)
    expect(data.citations.map(({ title }: { title: string }) => title).join()).not.toMatch(/Mirror|Recipes/)
    expect(data.report).not.toContain('Gazette')
    for (const planted of PLANTED) expect(data.report).not.toContain(planted)
    expect(data.warnings.filter((one: string) => one.includes('that part was left out'))).toHaveLength(4)
  })
})

describe('depth and max_sources', () => {
  test('bound what is read and written', async () => {
    const before = site.read.length
    const { data } = await researched({ prompt: QUESTION, depth: 'basic', max_sources: 3 })
    expect(site.read.length - before).toBe(3)
    expect(data).toMatchObject({ depth: 'basic', sources_consulted: 3 })
    expect(data.citations.length).toBeLessThanOrEqual(3)
  })

  test('are not used up by pages that copy others', async () => {
    // Its first page, the mirror of that page, and the page after it.
    const urls = [0, 13, 1].map((at) => `${site.origin}/page/${at}`)
    const { data } = await researched({ prompt: `${QUESTION}\n${urls.join('\n')}`, depth: 'basic', max_sources: 2 })
    expect(data.sources_consulted).toBe(2)
    expect(data.warnings.filter((one: string) => one.includes('repeats'))).toHaveLength(1)
    expect(data.report).toContain('42 metres')
  })
})

test.each([
  [{}, 'missing_prompt'],
  [{ prompt: '  ' }, 'missing_prompt'],
  [{ prompt: 'x', depth: 'deep' }, 'validation_error'],
  [{ prompt: 'x', max_sources: 0 }, 'validation_error'],
  [{ prompt: 'x', max_sources: 51 }, 'validation_error'],
  [{ prompt: 'x', max_sources: 1.5 }, 'validation_error'],
])('a research that cannot be is refused: %j (B32)', async (body, code) => {
  const { status, body: message } = await (await world.person()).send('POST', 'research', body)
  expect({ status, code: message.error.code }).toEqual({ status: 400, code })
})

import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { centsToMicro } from '../../../src/kernel/money'
import { writeDocument } from '../../../src/media/documents/service'
import { createUpstreamWorld } from '../../completions/upstream-world'
import { PIXEL, pathOf, saveFor } from '../../files/support'
import { onTerms, under } from '../../guardrails/support'
import { keyCaller } from '../../support/callers'
import { refusals } from '../../support/refusals'
import { createWorld } from '../../support/world'
import { download, hasOffice, hasPdftotext, opened, pdfText } from './support'

const world = await createWorld()
const { world: connected, upstream } = await createUpstreamWorld()
const ada = await world.person({ cents: 100 })

const DATA = 'Create a report of our sales with a chart:\n\nRegion,Sales\nNorth,120\nSouth,80\n\nThe north grew.'

describe('a csv for people', () => {
  const CREW =
    'Crew\n\n| Name | Phone | Note |\n|---|---|---|\n| Tove Mörk | +47 22 84 50 00 | =SUM(A1:A9) |\n| Weiß | +1 (555) 010-0199 | -3,50 |'

  test('begins with one byte order mark, keeps letters and phone numbers, and guards formulas', async () => {
    const made = await ada.send('POST', 'documents', { prompt: CREW, format: 'csv' })
    const bytes = Buffer.from((await download(world, made)).bytes)
    expect(bytes.subarray(0, 3).toString('hex')).toBe('efbbbf')
    expect(bytes.lastIndexOf('\ufeff')).toBe(0)
    expect(parse(bytes, { bom: true })).toEqual([
      ['Name', 'Phone', 'Note'],
      ['Tove Mörk', '+47 22 84 50 00', "'=SUM(A1:A9)"],
      ['Weiß', '+1 (555) 010-0199', '-3,50'],
    ])
  })
})

describe('POST /documents (docs/api.md 6)', () => {
  test('lays out the text and data of the prompt, without a language model and free of charge', async () => {
    const made = await ada.send('POST', 'documents', { prompt: DATA })
    expect(made.status).toBe(200)
    expect(made.body).toMatchObject({
      id: expect.stringMatching(/^doc_[0-9A-Za-z]{24}$/),
      object: 'document',
      format: 'pdf',
      title: 'Sales',
      usage: { cost_cents: 0 },
      request_id: made.headers.get('x-request-id'),
    })
    expect(made.body.content).toContain('| North | 120 |')
    expect(made.body.content).toContain('```chart')
    const { bytes, headers } = await download(world, made)
    expect(headers.get('content-type')).toBe('application/pdf')
    expect(headers.get('content-disposition')).toContain('Sales.pdf')
    expect(bytes).toHaveLength(made.body.size_bytes)
    if (hasPdftotext) expect(await pdfText(bytes)).toContain('The north grew.')
  })

  test.each([
    ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
    ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    ['csv', 'text/csv'],
  ])('a %s is served as what it is', async (format, mimeType) => {
    const { bytes, headers } = await download(world, await ada.send('POST', 'documents', { prompt: DATA, format }))
    expect(headers.get('content-type')).toStartWith(mimeType)
    expect(headers.get('content-disposition')).toContain(`.${format}`)
    if (format !== 'csv') return
    expect(parse(Buffer.from(bytes), { bom: true })).toEqual([
      ['Region', 'Sales'],
      ['North', '120'],
      ['South', '80'],
    ])
  })

  test.if(hasOffice)('a workbook of a bill shows its money as it is written (issue 19)', async () => {
    const prompt =
      'Workshop bill\n\n| Item | Amount |\n|---|---|\n| Chisel | $3.50 |\n| Bench | $1,250.00 |\n| Refund | -$12.00 |\n'
    const { bytes } = await download(world, await ada.send('POST', 'documents', { prompt, format: 'xlsx' }))
    expect(await opened(bytes, 'xlsx')).toBe('Item,Amount\nChisel,$3.50\nBench,"$1,250.00"\nRefund,-$12.00\n')
  })

  test('without content and without a language model it is an outline, and states that', async () => {
    const prompt = 'Write a report about solar energy with sections Costs, Risks and Outlook'
    const { body } = await ada.send('POST', 'documents', { prompt })
    expect(body.title).toBe('Solar energy')
    expect(body.content).toContain('no language model is connected')
    expect(body.content).toContain('## Costs\n\n*To be written.*')
  })

  test('is made once for an Idempotency-Key', async () => {
    const input = { prompt: DATA, format: 'csv' }
    const first = await ada.send('POST', 'documents', input, { 'idempotency-key': 'doc-1' })
    const again = await ada.send('POST', 'documents', input, { 'idempotency-key': 'doc-1' })
    expect(again.text).toBe(first.text)
    expect(again.headers.get('x-idempotent-replay')).toBe('true')
  })

  test('shows the caller’s own pictures, and no one else’s', async () => {
    const [mine, theirs] = [
      await saveFor(world, ada, PIXEL),
      await saveFor(world, await world.person(), Buffer.concat([PIXEL, Buffer.from('x')])),
    ]
    const prompt = `Make a document of this:\n\nLook: ![my pixel](${mine.id})\n\n![not mine](${theirs.id})\n\nEnd.`
    const { bytes } = await download(world, await ada.send('POST', 'documents', { prompt }))
    expect(
      Buffer.from(bytes)
        .toString('latin1')
        .match(/\/Subtype \/Image\b/g) ?? [],
    ).toHaveLength(2)
    if (hasPdftotext) expect(await pdfText(bytes)).toContain('[not mine]')
  })
})

refusals('POST /documents refuses', { world, as: await world.person(), request: 'POST documents' }, [
  ['no prompt', {}, '', { code: 'missing_prompt', param: 'prompt' }],
  ['a blank prompt', { prompt: ' \n' }, '', { code: 'missing_prompt', param: 'prompt' }],
  ['shell syntax as a format', { prompt: 'a', format: '$(id)' }, '', { code: 'invalid_format', param: 'format' }],
  ['a format in capitals', { prompt: 'a', format: 'PDF' }, '', { code: 'invalid_format', param: 'format' }],
  ['a format that is a number', { prompt: 'a', format: 7 }, '', { param: 'format' }],
  ['a prompt that is a number', { prompt: 7 }, '"prompt" is 7'],
])

describe('GET /documents/{id}', () => {
  test('is the same with a link that works, for its owner only, until its file is deleted', async () => {
    const made = await ada.send('POST', 'documents', { prompt: DATA, format: 'csv' })
    const { request_id: _, download_url: link, ...rest } = (await ada.send('GET', `documents/${made.body.id}`)).body
    expect(rest).toEqual({ ...made.body, request_id: undefined, download_url: undefined })
    expect((await world.send('GET', pathOf(link))).status).toBe(200)
    const eve = await world.person()
    for (const id of [made.body.id, `doc_${'0'.repeat(24)}`, 'doc_x', '..%2f..%2fsvc.db', 'art_1']) {
      const { status, body } = await eve.send('GET', `documents/${id}`)
      expect({ id, status, code: body.error.code }).toEqual({ id, status: 404, code: 'not_found' })
    }
    expect((await ada.send('DELETE', `artifacts/${made.body.id.replace('doc_', 'art_')}`)).status).toBe(200)
    expect((await ada.send('GET', `documents/${made.body.id}`)).status).toBe(404)
  })

  test('knows no other file', async () => {
    const { id } = await saveFor(world, ada, PIXEL)
    expect((await ada.send('GET', `documents/${id.replace('art_', 'doc_')}`)).status).toBe(404)
  })
})

describe('written by an engine', () => {
  test('its answer is laid out and its tokens are charged', async () => {
    const person = await connected.person({ cents: 100 })
    const text = '[[say:# Tea\n\nGrown **in the hills**.\n\n## History\n\nOld.]]'
    const made = await person.send('POST', 'documents', { prompt: `A report about tea ${text}`, format: 'docx' })
    expect(made.body).toMatchObject({ title: 'Tea', format: 'docx' })
    expect(made.body.content).toStartWith('# Tea')
    expect(made.body.usage.cost_cents).toBeGreaterThan(0)
    const [system] = upstream.calls.at(-1)!.body.messages as { role: string; content: string }[]
    expect(system).toMatchObject({ role: 'system', content: expect.stringContaining('You write documents') })
    const [row] = (await person.send('GET', 'audit')).body
    expect(row).toMatchObject({ action: 'document.created', entityType: 'document', entityId: made.body.id })
    expect(JSON.stringify(row)).not.toContain('tea')
    expect((await person.send('GET', `documents/${made.body.id}`)).body.usage).toEqual(made.body.usage)
  })

  test('a failure of the engine charges nothing and leaves no file', async () => {
    const person = await connected.person({ cents: 100 })
    const { status, body } = await person.send('POST', 'documents', { prompt: 'A report [[500]]' })
    expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'engine_unavailable' })
    const { billing } = connected.app.container
    const wallet = await billing.balance(connected.app.store.read, `user:${person.userId}`)
    expect({ balance: wallet.balance, held: wallet.held }).toEqual({ balance: centsToMicro(100), held: 0 })
  })

  test('without credit nothing is asked of it', async () => {
    const calls = upstream.calls.length
    const person = await connected.person({ cents: 0 })
    expect((await person.send('POST', 'documents', { prompt: 'A report' })).status).toBe(402)
    expect(upstream.calls).toHaveLength(calls)
  })

  test('what an engine writes that no database can store is left out', async () => {
    const usage = { promptTokens: 1, completionTokens: 1 }
    const answer = async () => ({ text: '# a\0b\ud800', usage, engineId: 'e', free: false, fallbackUsed: false })
    const call = {
      caller: keyCaller(),
      requestId: 'req_1',
      route: 'POST /documents',
      signal: new AbortController().signal,
    }
    const input = { prompt: 'p', format: 'pdf' as const, call, signal: call.signal }
    expect((await writeDocument({ answer } as never, 'e', input)).markdown).toBe('# ab\ufffd')
  })

  test('what the policy forbids is refused, or redacted in the file too', async () => {
    const person = await connected.person({ cents: 100 })
    await under(person, [onTerms('input', 'block', ['zebra']), onTerms('output', 'redact', ['stripes'])])
    const refused = await person.send('POST', 'documents', { prompt: 'About a zebra' })
    expect(refused.body.error.code).toBe('guardrail_blocked')
    const made = await person.send('POST', 'documents', { prompt: 'A [[say:It has stripes.]]', format: 'csv' })
    expect(made.body.content).not.toContain('stripes')
    const { bytes } = await download(connected, made)
    expect(new TextDecoder().decode(bytes)).not.toContain('stripes')
  })
})

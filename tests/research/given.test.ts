import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { serveLocally } from '../support/listening'
import { createWorld, type Person } from '../support/world'

// Real work in processes, perhaps beside much else.
setDefaultTimeout(90_000)

/** A site of files as people have them; `ct` is what they are said to be. */
const site = serveLocally((request) => {
  const { pathname, searchParams } = new URL(request.url)
  const file = Bun.file(join(import.meta.dir, 'given', pathname.slice(1)))
  // A page of a server that names no charset.
  const type = searchParams.get('ct') ?? (file.type.split(';')[0] || 'text/plain')
  return new Response(file.stream(), { headers: { 'content-type': type } })
})
const world = await createWorld({ config: { egressAllow: '127.0.0.1/32' } })
const at = (name: string) => `http://127.0.0.1:${site.port}/${name}`

async function researched(prompt: string, by?: Person) {
  const ada = by ?? (await world.person())
  const { status, body: handle } = await ada.send('POST', 'research', { prompt, depth: 'basic', max_sources: 8 })
  expect(status).toBe(202)
  await world.app.container.jobs.runDue()
  const { status: is, error, result_data: data } = (await ada.send('GET', `jobs/${handle.job_id}`)).body
  expect({ is, error }).toEqual({ is: 'completed', error: null })
  const quotes = data.quotations.map(({ quote }: { quote: string }) => quote.replace(/\s+/g, ' '))
  return { data, quotes: quotes as string[] }
}

describe('a file as people have it is quoted as it is written (issue 28)', () => {
  test.each([
    [
      'two columns, drawn line by line across both: left',
      'When was the windmill of Brodholm raised?',
      'two-columns-rows.pdf',
      'The windmill of Brodholm was raised in 1791 by the miller Arvid Sten.',
    ],
    [
      'two columns: right',
      'How many crowns does a family pay for the tour and the tasting of bread?',
      'two-columns-rows.pdf',
      'A family pays 140 crowns for the tour and the tasting of bread in the old bakery beside the mill.',
    ],
    [
      'hyphens at line ends',
      'How many kilograms does the oldest barometer of the summit hut weigh?',
      'hyphens.pdf',
      'The oldest barometer of the summit hut weighs 19 kilograms.',
    ],
    [
      'lines of plain text',
      'How many cubic metres of mud were moved in the harbour of Kalvik and how many months did the work take?',
      'hard-wrapped.txt',
      'The work took seven months and moved 310 thousand cubic metres of mud, although only half of the sum that the council had set aside was needed in the end.',
    ],
    [
      'a rotated page',
      'How many oak rollers does the cap turn on and how many metres do the sails reach across?',
      'rotated.pdf',
      'Its cap turns on 48 oak rollers and the sails reach 22 metres across.',
    ],
    [
      'a page in Windows-1252',
      'Was kostet ein Glas Honig in Mölln?',
      'no-charset.html',
      'Ein Glas Honig kostet auf dem Münsterplatz in Mölln 9 € und trägt das Siegel „Süße Höfe“.',
    ],
    [
      'CSV under octet-stream',
      'How many inhabitants has Old Harbour?',
      'under-octet-stream.csv?ct=application/octet-stream',
      '7315',
    ],
  ])('%s', async (_, question, name, quote) => {
    const { data, quotes } = await researched(`${question} ${at(name)}`)
    expect(quotes.filter((one) => one.includes(quote))).not.toEqual([])
    expect(JSON.stringify(data)).not.toContain('\ufffd')
    for (const one of quotes) {
      const sides = ['windmill', 'oak rollers', 'rye'].some((word) => one.includes(word))
      expect({ one, sides: sides && /tours|family|bakery|August/.test(one) }).toEqual({ one, sides: false })
    }
  })

  test('copies on three sites are one source, and the others are named', async () => {
    const names = [1, 2, 3].map((number) => at(`copies-ferry-${number}.html`))
    const question = 'How many passengers and cars does the new ferry of Vessby carry?'
    const { data, quotes } = await researched(`${question} ${names.join(' ')}`)
    expect(quotes.join()).toContain('The new ferry carries 240 passengers and 36 cars and crosses the sound in eleven')
    expect(data).toMatchObject({ sources_consulted: 1, citations: [{ index: 1 }] })
    expect(data.citations).toHaveLength(1)
    for (const name of names) expect(JSON.stringify(data)).toContain(name)
  })

  test('one text in three files of one’s own is one source that answers', async () => {
    const ada = await world.person()
    const prompt = await Bun.file(join(import.meta.dir, 'given', 'copies-own.md')).text()
    const ids: string[] = []
    for (const format of ['pdf', 'docx', 'xlsx']) {
      const { body } = await ada.send('POST', 'documents', { prompt, format })
      ids.push(/art_[0-9A-Za-z]{24}/.exec(body.download_url)![0])
    }
    const question = `What is the response time for the cold store of Tamsin Dairy? Use ${ids[0]}`
    const { data, quotes } = await researched(question, ada)
    expect(quotes.join()).toContain('The response time for the cold store of Tamsin Dairy is 6 hours')
    expect(data).toMatchObject({ sources_consulted: 1, citations: [{ url: `/api/v1/artifacts/${ids[0]}` }] })
  })
})

import { describe, expect, test } from 'bun:test'
import { strToU8, zipSync } from 'fflate'
import { createOutbound } from '../../src/kernel/outbound'
import { createWebFetch } from '../../src/tools/system/web'
import { serveLocally } from '../support/listening'
import { contextOf, openTools, requestOf, wanted, webOf } from './world'

const ARTICLE = `<html><head><title>Tides</title><script>document.title = 'ran'</script></head><body><nav><a href="/">Home</a></nav>
<article><h1>Why tides turn</h1>${'<p>The moon pulls at the sea, and the sea, being water, follows it around.</p>'.repeat(12)}
<ul><li>spring tide</li><li>neap tide</li></ul>
<ol start="7"><li>high water<ol><li>slack</li></ol></li><li>ebb</li><li value="12">low water</li></ol></article><footer>imprint</footer></body></html>`

const seen: string[] = []
const answers: Record<string, () => Response> = {
  '/article': () => new Response(ARTICLE, { headers: { 'content-type': 'text/html; charset=utf-8' } }),
  '/table': () => page('<table><tr><th>a</th><td>1</td></tr></table>'),
  '/latin': () =>
    new Response(Buffer.from('caf\xe9', 'latin1'), { headers: { 'content-type': 'text/plain; charset=iso-8859-1' } }),
  '/meta': () =>
    new Response(Buffer.from('<meta charset="windows-1252"><p>caf\xe9', 'latin1'), {
      headers: { 'content-type': 'text/html' },
    }),
  '/json': () => Response.json({ a: [1, 2] }),
  '/image': () => new Response(new Uint8Array(8), { headers: { 'content-type': 'image/png' } }),
  '/zip': () => new Response('PK', { headers: { 'content-type': 'application/zip' } }),
  '/missing': () => new Response('no', { status: 404 }),
  '/big': () => new Response('x'.repeat(2 * 1024 * 1024 + 1), { headers: { 'content-type': 'text/plain' } }),
  '/titled': () => page(`<html><head><title>${'long '.repeat(10_000)}</title></head><body><p>short</p></body></html>`),
  '/nul': () => new Response('a\0b', { headers: { 'content-type': 'text/plain' } }),
  '/once': () => to('/article'),
  '/round': () => to('/round'),
  '/inside': () => to('http://10.0.0.1/secret'),
  '/metadata': () => to('http://169.254.169.254/latest/meta-data'),
  '/file': () => to('file:///etc/passwd'),
  '/deep': () => page('<div>'.repeat(100_000)),
}
/** What a page may leave out: its html, head and body, and the tags that end them. */
const BARE = [
  '<!doctype html><title>Tides</title><p>They turn twice a day.',
  '<!doctype html><html lang="en"><title>Tides</title><meta charset="utf-8"><p>They turn twice a day.</p>',
  '<html><head><title>Tides</title></head><p>They turn twice a day.</p></html>',
  '<html><title>Tides</title><body><p>They turn twice a day.</p>',
  '<!-- <html> --><title>Tides</title><p>They turn twice a day.</p>',
  '<html><title>Tides</title>They turn twice a day.',
]
BARE.forEach((html, at) => {
  answers[`/bare/${at}`] = () => page(html)
})
const paragraph = (words: string) => `<w:p><w:r><w:t>${words}</w:t></w:r></w:p>`
const BOX = `<w:txbxContent>${paragraph('In a box')}</w:txbxContent>`
const WORD = {
  'word/document.xml': `<w:document><w:body><w:p><w:r><w:t>E</w:t><w:noBreakHyphen/><w:t>mail</w:t></w:r><w:del><w:r>
    <w:delText>gone</w:delText></w:r></w:del></w:p><mc:AlternateContent><mc:Choice>${BOX}</mc:Choice><mc:Fallback>${BOX}
    </mc:Fallback></mc:AlternateContent><w:tbl><w:tr><w:tc>${paragraph('Name')}</w:tc><w:tc>${paragraph('Hours')}</w:tc>
    </w:tr><w:tr><w:tc>${paragraph('Ada')}${paragraph('Lovelace')}</w:tc><w:sdt><w:sdtContent><w:tc>${paragraph('6')}
    </w:tc></w:sdtContent></w:sdt></w:tr></w:tbl></w:body></w:document>`,
  'word/footnotes.xml': `<w:footnotes><w:footnote w:id="2">${paragraph('As of May.')}</w:footnote></w:footnotes>`,
}
const WORD_TEXT = 'E-mail\nIn a box\nName\tHours\nAda Lovelace\t6\n\nAs of May.'
const THIRD = [
  't="s"><v>1',
  's="1"><v>45000',
  's="2"><v>45000.75\n    ',
  's="3"><v>0.042',
  's="4"><v>1.25',
  's="5"><v>3.5',
  't="b"><v>1',
]
  .map((cell, at) => `<c r="${'ABCDEFG'[at]}3" ${cell}</v></c>`)
  .join('')
const BOOK = {
  'xl/sharedStrings.xml':
    '<sst><si><t>City</t></si><si><r><t>東</t></r><r><t>京</t></r><rPh><t>トウ</t></rPh></si></sst>',
  'xl/styles.xml': `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd hh:mm"/><numFmt numFmtId="165"
    formatCode="[h]:mm"/><numFmt numFmtId="166" formatCode="0.0 &quot;days&quot;"/></numFmts><cellXfs><xf numFmtId="0"/>
    <xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="10"/><xf numFmtId="165"/><xf numFmtId="166"/></cellXfs></styleSheet>`,
  'xl/worksheets/sheet1.xml': `<worksheet><sheetData><row><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>Two
    lines</t></is></c></row><row/><row>${THIRD}</row></sheetData></worksheet>`,
}
const BOOK_TEXT = 'City\t\tTwo lines\n東京\t2023-03-15\t2023-03-15 18:00:00\t4.2%\t30:00\t3.5 days\tTRUE'
const page = (html: string) => new Response(html, { headers: { 'content-type': 'text/html' } })
const to = (location: string) => new Response(null, { status: 302, headers: { location } })

const server = serveLocally((request) => {
  const { pathname } = new URL(request.url)
  seen.push(pathname)
  return answers[pathname]?.() ?? new Response(null, { status: 500 })
})
const here = `http://127.0.0.1:${server.port}`

const fetching = (outbound = createOutbound({ allow: ['127.0.0.1/32'] })) => {
  const tools = openTools({ system: [createWebFetch({ web: webOf(outbound) })] })
  return (url: string) => tools.run(tools.assemble(wanted()), requestOf('web_fetch', { url }), contextOf())
}
const read = fetching()

describe('web_fetch', () => {
  test('gives the article of a page and nothing around it', async () => {
    const { status, result } = await read(`${here}/article#part`)
    expect(status).toBe('success')
    const { url, title, text } = result as { url: string; title: string; text: string }
    expect({ url, title }).toEqual({ url: `${here}/article`, title: 'Tides' })
    expect(text).toContain('The moon pulls at the sea')
    expect(text).toContain('\n- spring tide')
    expect(text.replace(/\n+/g, '\n')).toContain('\n7. high water\n1. slack\n8. ebb\n12. low water')
    expect(text).not.toContain('imprint')
    expect(text).not.toContain('ran')
  }, 30_000)

  test.each(BARE.map((html, at) => [html, at] as const))('reads %s', async (_, at) => {
    const { status, result } = await read(`${here}/bare/${at}`)
    expect({ status, result }).toMatchObject({
      status: 'success',
      result: { title: 'Tides', text: 'They turn twice a day.' },
    })
  })

  test.each([
    ['/table', 'a | 1 |'],
    ['/latin', 'café'],
    ['/meta', 'café'],
    ['/json', '{"a":[1,2]}'],
    ['/nul', 'ab'],
  ])('reads %s', async (path, text) => {
    expect((await read(here + path)).result).toMatchObject({ text })
  })

  test.each([
    ['set lines', '<p>So:</p><pre>def f():<span>\n  </span>return 1\n</pre>', 'So:\n\ndef f():\n  return 1'],
    ['a power and a note', '<p>3·10<sup>8</sup> m/s, 12,000<sup>2</sup>, a<sup>2</sup>', '3·10^8 m/s, 12,000^2, a2'],
    ['soft hyphens', '<p>Donau&shy;dampf&shy;schiff</p>', 'Donaudampfschiff'],
  ])('reads %s of a page', async (_, html, text) => {
    answers['/made'] = () => page(html)
    expect((await read(`${here}/made`)).result).toMatchObject({ text })
  })

  test.each([
    ['a Word document, with its tables and notes', WORD, WORD_TEXT],
    ['a workbook, with what its cells show', BOOK, BOOK_TEXT],
  ])('reads %s', async (_, parts, text) => {
    const bytes = zipSync(Object.fromEntries(Object.entries(parts).map(([name, xml]) => [name, strToU8(xml)])))
    answers['/office'] = () => new Response(bytes, { headers: { 'content-type': 'application/octet-stream' } })
    expect((await read(`${here}/office`)).result).toMatchObject({ text })
  })

  test('gives as much of a title as one has', async () => {
    const { title } = (await read(`${here}/titled`)).result as { title: string }
    expect(title).toStartWith('long long')
    expect(title.length).toBeLessThanOrEqual(500)
  })

  test.each([
    ['/image', /contains image\/png, which this server cannot read/],
    ['/zip', /contains application\/zip, which this server cannot read/],
    ['/missing', /status 404/],
    ['/big', /larger than/],
    ['/round', /more than 5 times/],
  ])('says why it cannot read %s', async (path, problem) => {
    const outcome = await read(here + path)
    expect(outcome.status).toBe('error')
    expect(outcome.text).toMatch(problem)
  })

  test('a page nested deeper than any stack harms nobody', async () => {
    const outcome = await read(`${here}/deep`)
    expect(['success', 'error']).toContain(outcome.status)
    expect((await read(`${here}/json`)).status).toBe('success')
  }, 30_000)

  test('follows a redirect, each hop through the door', async () => {
    expect((await read(`${here}/once`)).result).toMatchObject({ url: `${here}/article` })
    for (const path of ['/inside', '/metadata', '/file']) {
      const outcome = await read(here + path)
      expect(outcome.status).toBe('error')
      expect(outcome.text).toMatch(/cannot be called/)
    }
  })

  test.each([
    'http://127.0.0.1:1/',
    'http://localhost/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://169.254.169.254/',
    'http://10.0.0.1/',
    'http://[64:ff9b::7f00:1]/',
    'http://0/',
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'http://user:pass@127.0.0.1/',
    'javascript:alert(1)',
    'data:text/plain,x',
    `http://127.0.0.1:1/${'x'.repeat(2_100)}`,
    'http://①②⑦.0.0.1/',
    'http://%31%32%37.0.0.1/',
    'http://host\r\nx: y/',
  ])('refuses %j and connects to nothing (J)', async (url) => {
    seen.length = 0
    const outcome = await fetching(createOutbound())(url)
    expect(outcome.status).toBe('error')
    expect(outcome.result).toBeNull()
    expect(seen).toEqual([])
  })

  test('with the guard up, this machine is not read', async () => {
    seen.length = 0
    expect((await fetching(createOutbound())(`${here}/json`)).status).toBe('error')
    expect(seen).toEqual([])
  })
})

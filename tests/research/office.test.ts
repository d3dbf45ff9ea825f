import { describe, expect, test } from 'bun:test'
import { strToU8, zipSync } from 'fflate'
import { mailsIn, mailText, rtfText } from '../../src/research/web/mail-rtf'
import { officeText } from '../../src/research/web/office'

const zipped = (parts: Record<string, string | Uint8Array>): Uint8Array =>
  zipSync(Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, new Uint8Array(bytesOf(part))])))
const bytesOf = (part: string | Uint8Array): Uint8Array => (typeof part === 'string' ? strToU8(part) : part)

const SPREADSHEET = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const sheet = (cells: string): string =>
  `<worksheet xmlns="${SPREADSHEET}"><sheetData><row r="1">${cells}</row></sheetData></worksheet>`
const cell = (text: string): string => `<c t="inlineStr"><is><t>${text}</t></is></c>`
const word = (body: string): string => `<w:document xmlns:w="${WORD}"><w:body>${body}</w:body></w:document>`
const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`
const related = (...entries: [id: string, target: string][]): string =>
  `<Relationships xmlns="${RELATIONS}">${entries.map(([id, target]) => `<Relationship Id="${id}" Target="${target}"/>`).join('')}</Relationships>`
const open = (body: string): string =>
  `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b">${body}</office:document-content>`
const slide = (text: string): string =>
  `<p:sld xmlns:p="p" xmlns:a="a"><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`

const item = (list: number, depth: number, text: string): string =>
  `<w:p><w:pPr><w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="${list}"/></w:numPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`
const level = (depth: number, format: string, text: string): string =>
  `<w:lvl w:ilvl="${depth}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`
const points = (...values: string[]): string => values.map((value) => `<c:pt><c:v>${value}</c:v></c:pt>`).join('')

describe('the text of a file of Office, as programs write it', () => {
  const styles = `<styleSheet xmlns="${SPREADSHEET}"><numFmts><numFmt numFmtId="164" formatCode="00000"/><numFmt numFmtId="165" formatCode="00000-0000"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>`
  test.each<[string, Record<string, string | Uint8Array>, string]>([
    ['with a prefix of its own', { 'word/document.xml': word(paragraph('Sold.')).replaceAll('w:', 'ns0:') }, 'Sold.'],
    ['with a number in the name of the document', { 'word/document2.xml': word(paragraph('Sold.')) }, 'Sold.'],
    ['with backslashes', { 'word\\document.xml': word(paragraph('Sold.')) }, 'Sold.'],
    ['with a slash first', { '/word/document.xml': word(paragraph('Sold.')) }, 'Sold.'],
    [
      'with a header and a remark, each once',
      {
        'word/document.xml': word(paragraph('Body.')),
        'word/header1.xml': word(paragraph('No. 7')),
        'word/header2.xml': word(paragraph('No. 7')),
        'word/comments.xml': word(paragraph('Check it.')),
      },
      'Body.\n\nCheck it.\n\nNo. 7',
    ],
    [
      'without what is not shown, and what was moved away',
      {
        'word/document.xml': word(
          `${paragraph('Seen.')}<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>Not seen.</w:t></w:r></w:p><w:p><w:moveFrom><w:r><w:t>Gone.</w:t></w:r></w:moveFrom></w:p>`,
        ),
      },
      'Seen.',
    ],
    [
      'with a box of text in a paragraph',
      { 'word/document.xml': word(`<w:p><w:r><w:t>One.</w:t><w:box>${paragraph('In it.')}</w:box></w:r></w:p>`) },
      'One.\nIn it.',
    ],
    [
      'with prefixes in a workbook',
      {
        'xl/worksheets/sheet1.xml': sheet(cell('Barley'))
          .replaceAll(/<(\/?)(?=[a-z])/gi, '<$1x:')
          .replace('xmlns=', 'xmlns:x='),
      },
      'Barley',
    ],
    ['with a sheet of another name', { 'xl/worksheets/Prices.xml': sheet(cell('Barley')) }, 'Barley'],
    [
      'with letters in UTF-16',
      { 'xl/worksheets/sheet1.xml': new Uint8Array(Buffer.from(`\ufeff${sheet(cell('Größe'))}`, 'utf16le')) },
      'Größe',
    ],
    [
      'with codes that begin with zeros, and numbers as they are shown',
      {
        'xl/worksheets/sheet1.xml': sheet(
          '<c s="1"><v>420</v></c><c s="2"><v>123456789</v></c><c><v>0.30000000000000004</v></c>',
        ),
        'xl/styles.xml': styles,
      },
      '00420\t12345-6789\t0.3',
    ],
    ['with coded signs', { 'xl/worksheets/sheet1.xml': sheet(cell('one_x000D_&#10;two')) }, 'one two'],
    [
      'in the order of its sheets, below their names',
      {
        'xl/workbook.xml': `<workbook xmlns:r="${OFFICE}"><sheets><sheet name="New" r:id="b"/><sheet name="Old" r:id="a"/></sheets></workbook>`,
        'xl/_rels/workbook.xml.rels': related(['a', 'worksheets/sheet1.xml'], ['b', '/xl/worksheets/sheet2.xml']),
        'xl/worksheets/sheet1.xml': sheet(cell('first made')),
        'xl/worksheets/sheet2.xml': sheet(cell('made later')),
      },
      'New\nmade later\n\nOld\nfirst made',
    ],
    [
      'in the order of its slides, with their notes',
      {
        'ppt/presentation.xml': `<p:presentation xmlns:p="p" xmlns:r="${OFFICE}"><p:sldIdLst><p:sldId r:id="b"/><p:sldId r:id="a"/></p:sldIdLst></p:presentation>`,
        'ppt/_rels/presentation.xml.rels': related(['a', 'slides/slide1.xml'], ['b', 'slides/slide2.xml']),
        'ppt/slides/slide1.xml': slide('Second'),
        'ppt/slides/slide2.xml': slide('First'),
        'ppt/slides/_rels/slide2.xml.rels': related(['n', '../notesSlides/notesSlide1.xml']),
        'ppt/notesSlides/notesSlide1.xml': slide('Say hello'),
      },
      'First\n\nSay hello\n\nSecond',
    ],
  ])('%s', (_, parts, expected) => expect(officeText(zipped(parts)).trim()).toBe(expected))

  test.each<[string, Record<string, string>, string]>([
    [
      'a list of Word with its numbers, also those of a style (microsoft/markitdown#2323)',
      {
        'word/document.xml': word(
          [
            item(1, 0, 'Open'),
            item(1, 1, 'gate'),
            item(1, 1, 'door'),
            item(1, 0, 'Start'),
            item(2, 0, 'Rye'),
            item(3, 0, 'New'),
            `<w:p><w:pPr><w:pStyle w:val="ListNumber"/></w:pPr><w:r><w:t>Stop</w:t></w:r></w:p>`,
          ].join(''),
        ),
        'word/numbering.xml': `<w:numbering xmlns:w="${WORD}"><w:abstractNum w:abstractNumId="0">${level(0, 'decimal', '%1.')}${level(1, 'lowerRoman', '%1.%2)')}</w:abstractNum><w:abstractNum w:abstractNumId="1">${level(0, 'bullet', '·')}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num></w:numbering>`,
        'word/styles.xml': `<w:styles xmlns:w="${WORD}"><w:style w:styleId="ListNumber"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style></w:styles>`,
      },
      '1. Open\n1.i) gate\n1.ii) door\n2. Start\n- Rye\n1. New\n3. Stop',
    ],
    [
      'a list of an OpenDocument file with its numbers, also one that goes on',
      {
        'content.xml': open(
          [
            '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")" text:display-levels="2"/></text:list-style>',
            '<text:list text:style-name="L"><text:list-item><text:p>Open</text:p><text:list><text:list-item><text:p>gate</text:p><text:p>or door</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>Start</text:p></text:list-item></text:list>',
            '<text:p>Rest.</text:p>',
            '<text:list text:style-name="L" text:continue-numbering="true"><text:list-item><text:p>Stop</text:p></text:list-item></text:list>',
            '<text:list text:style-name="Shared"><text:list-item><text:p>Rye</text:p></text:list-item></text:list>',
          ].join(''),
        ),
        'styles.xml': open(
          '<text:list-style style:name="Shared"><text:list-level-style-bullet text:level="1" text:bullet-char="•"/></text:list-style>',
        ),
      },
      '1. Open\n1.a) gate\nor door\n2. Start\nRest.\n3. Stop\n- Rye',
    ],
    [
      'the numbers of a list on a slide, which begin anew in another box',
      {
        'ppt/slides/slide1.xml': `<p:sld xmlns:p="p" xmlns:a="a">${[
          ['0', 'arabicPeriod', 'Open'],
          ['1', 'alphaLcParenR', 'gate'],
          ['1', 'alphaLcParenR', 'door'],
          ['0', 'arabicPeriod', 'Start'],
        ]
          .map(
            ([level, kind, text]) =>
              `<a:p><a:pPr lvl="${level}"><a:buAutoNum type="${kind}"/></a:pPr><a:r><a:t>${text}</a:t></a:r></a:p>`,
          )
          .join(
            '',
          )}<p:txBody><a:p><a:pPr><a:buAutoNum type="romanUcParenBoth" startAt="4"/></a:pPr><a:r><a:t>Stop</a:t></a:r></a:p></p:txBody></p:sld>`,
      },
      '1. Open\na) gate\nb) door\n2. Start\n(IV) Stop',
    ],
    [
      'the comments on a slide, old and new',
      {
        'ppt/slides/slide1.xml': slide('Harvest'),
        'ppt/slides/_rels/slide1.xml.rels': related(
          ['c', '../comments/comment1.xml'],
          ['m', '../comments/modernComment_1F_0.xml'],
        ),
        'ppt/comments/comment1.xml':
          '<p:cmLst xmlns:p="p"><p:cm><p:text>Too small</p:text></p:cm><p:cm><p:text>Agreed</p:text></p:cm></p:cmLst>',
        'ppt/comments/modernComment_1F_0.xml':
          '<m:cmLst xmlns:m="m" xmlns:a="a"><m:cm><m:txBody><a:p><a:r><a:t>Fix it</a:t></a:r></a:p></m:txBody></m:cm></m:cmLst>',
      },
      'Harvest\n\nToo small\nAgreed\n\nFix it',
    ],
    [
      'a text box and a remark of a sheet (openpyxl)',
      {
        'xl/worksheets/sheet1.xml': sheet(cell('Rye')),
        'xl/drawings/drawing1.xml':
          '<xdr:wsDr xmlns:xdr="x" xmlns:a="a"><xdr:from><xdr:col>1</xdr:col></xdr:from><xdr:txBody><a:bodyPr/><a:p><a:r><a:t>Draft</a:t></a:r></a:p></xdr:txBody></xdr:wsDr>',
        'xl/comments/comment1.xml': `<comments xmlns="${SPREADSHEET}"><comment><text><t>Checked</t></text></comment></comments>`,
      },
      'Rye\n\nDraft\n\nChecked',
    ],
    [
      'a diagram of a Word document',
      {
        'word/document.xml': word(paragraph('Plan.')),
        'word/diagrams/data1.xml':
          '<d:dataModel xmlns:d="d" xmlns:a="a"><d:t><a:p><a:r><a:t>Sow</a:t></a:r></a:p></d:t></d:dataModel>',
      },
      'Plan.\n\nSow',
    ],
    [
      'a chart of a slide, with its values',
      {
        'ppt/slides/slide1.xml': slide('Harvest'),
        'ppt/slides/_rels/slide1.xml.rels': related(['c', '../charts/chart1.xml']),
        'ppt/charts/chart1.xml': `<c:chartSpace xmlns:c="c"><c:ser><c:tx>${points('Rye')}</c:tx><c:cat>${points('2024', '2025')}</c:cat><c:val>${points('398', '412')}</c:val></c:ser></c:chartSpace>`,
      },
      'Harvest\n\nRye\n2024\t398\n2025\t412',
    ],
    [
      'a formula without a value, as programs that do not calculate write it, and a remark',
      {
        'xl/worksheets/sheet1.xml': sheet(
          '<c r="A1"><v>2</v></c><c r="B1"><f>SUM(A1:A9)</f></c><c r="C1"><f>1+1</f><v>2</v></c>',
        ),
        'xl/comments1.xml': `<comments xmlns="${SPREADSHEET}"><commentList><comment ref="A1"><text><r><t>Checked</t></r></text></comment></commentList></comments>`,
      },
      '2\t=SUM(A1:A9)\t2\n\nChecked',
    ],
    [
      'amounts with their currency, and the first days of 1900',
      {
        'xl/worksheets/sheet1.xml': sheet('<c s="1"><v>1250.5</v></c><c s="2"><v>9.9</v></c><c s="3"><v>1</v></c>'),
        'xl/styles.xml': `<styleSheet xmlns="${SPREADSHEET}"><numFmts><numFmt numFmtId="170" formatCode="&quot;$&quot;#,##0.00"/><numFmt numFmtId="171" formatCode="#,##0.00 [$€-407]"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/><xf numFmtId="171"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
      },
      '1250.5 $\t9.9 €\t1900-01-01',
    ],
  ])('%s', (_, parts, expected) => expect(officeText(zipped(parts))).toBe(expected))

  test.each<[string, number, string]>([
    ['0.0&quot; kg&quot;', 12.5, '12.5 kg'],
    ['&quot;Room &quot;0', 5, 'Room 5'],
    ['0\\ &quot;Stück&quot;', 12, '12 Stück'],
    ['0°&quot;C&quot;', 20, '20°C'],
    ['0.0,,&quot;M&quot;', 1_234_567, '1234567'],
    ['&quot;Yes&quot;;&quot;Yes&quot;;&quot;No&quot;', 0, 'No'],
    ['mmmm', 45_365, '2024-03-14'],
    ['# ?/?', 0.25, '0.25'],
    ['General', 7, '7'],
    ['#,##0_);(#,##0)', -5, '-5'],
  ])('a number in the format %s', (code, value, shown) => {
    const parts = {
      'xl/worksheets/sheet1.xml': sheet(`<c s="1"><v>${value}</v></c>`),
      'xl/styles.xml': `<styleSheet xmlns="${SPREADSHEET}"><numFmts><numFmt numFmtId="170" formatCode="${code}"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/></cellXfs></styleSheet>`,
    }
    expect(officeText(zipped(parts))).toBe(shown)
  })

  test.each<[string, string, string]>([
    ['a letter of the font Symbol (mammoth)', '<w:r><w:t>5 \uf06d</w:t></w:r><w:r><w:t>g</w:t></w:r>', '5 μg'],
    ['a sign', '<w:r><w:sym w:font="Wingdings" w:char="F0FC"/><w:t> Signed</w:t></w:r>', '✓ Signed'],
    [
      'a reading of a character (python-mammoth#76)',
      '<w:ruby><w:rt><w:r><w:t>かん</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby>',
      '漢',
    ],
    [
      'a box that is ticked, by its number in Unicode',
      '<w:r><w:sym w:font="MS Gothic" w:char="2612"/><w:t> Paid</w:t></w:r>',
      '☒ Paid',
    ],
    [
      'a number that is raised by points',
      '<w:r><w:t>10</w:t></w:r><w:r><w:rPr><w:position w:val="8"/></w:rPr><w:t>6</w:t></w:r>',
      '10^6',
    ],
    ['a tab of a page', '<w:r><w:t>Left</w:t><w:ptab/><w:t>Right</w:t></w:r>', 'Left\tRight'],
    [
      'a power',
      '<w:r><w:t>10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>6</w:t></w:r>',
      '10^6',
    ],
    [
      'a formula',
      '<m:f><m:fPr/><m:num><m:r><m:t>a+1</m:t></m:r></m:num><m:den><m:r><m:t>12</m:t></m:r></m:den></m:f><m:rad><m:e><m:r><m:t>16</m:t></m:r></m:e></m:rad>',
      '(a+1)/12√16',
    ],
  ])('%s in a Word document', (_, inner, shown) => {
    expect(officeText(zipped({ 'word/document.xml': word(`<w:p>${inner}</w:p>`) }))).toBe(shown)
  })

  test('a page within a Word document, as html-docx-js writes it', () => {
    const archive =
      'MIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<html><body><p class=3D"a">The mühle =\nopens.</p></body></html>\n--b--'
    expect(officeText(zipped({ 'word/document.xml': word('<w:altChunk/>'), 'word/afchunk.mht': archive }))).toBe(
      'The mühle opens.',
    )
  })

  test('hidden sheets are not read, unless there are no others', () => {
    const book = (state: string) => ({
      'xl/workbook.xml': `<workbook xmlns="${SPREADSHEET}" xmlns:r="${OFFICE}"><sheets><sheet name="A" r:id="r1" ${state}/><sheet name="B" r:id="r2" state="veryHidden"/></sheets></workbook>`,
      'xl/_rels/workbook.xml.rels': related(['r1', 'worksheets/sheet1.xml'], ['r2', 'worksheets/sheet2.xml']),
      'xl/worksheets/sheet1.xml': sheet(cell('Barley')),
      'xl/worksheets/sheet2.xml': sheet(cell('Rye')),
    })
    expect(officeText(zipped(book('state="visible"')))).toBe('Barley')
    expect(officeText(zipped(book('state="hidden"')))).toBe('A\nBarley\n\nB\nRye')
  })

  test.each<[string, Record<string, string>, string]>([
    [
      'an OpenDocument text, with its notes, without what was deleted',
      {
        'content.xml': open(
          `<office:automatic-styles><text:p>no</text:p></office:automatic-styles><office:body><office:text><text:tracked-changes><text:p>Deleted.</text:p></text:tracked-changes><text:h>The   mill</text:h><text:p>Built<text:s text:c="2"/>in <text:span>1791</text:span><text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Or 1792.</text:p></text:note-body></text:note>.</text:p><text:list><text:list-item><text:p>One</text:p></text:list-item></text:list><table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2"/><table:table-cell><text:p>b</text:p><text:p>c</text:p></table:table-cell></table:table-row></table:table></office:text></office:body>`,
        ),
      },
      'The mill\nBuilt  in 1791.\nOne\na\t\t\tb c\n\nOr 1792.',
    ],
    [
      'a sheet of OpenDocument, as it is shown',
      {
        'content.xml': open(
          '<table:table table:name="P"><table:table-row><table:table-cell office:value="0.125"><text:p>12,5 %</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16000"/></table:table-row></table:table>',
        ),
      },
      '12,5 %',
    ],
    [
      'sheets of OpenDocument, below their names, with equal rows that are stored once, without what is hidden',
      {
        'content.xml': open(
          `<style:style style:name="off"><style:table-properties table:display="false"/></style:style><office:spreadsheet>${[
            ['North', 'Rye', 3],
            ['Empty', '', 1_000_000],
            ['South', 'Oats', 1],
          ]
            .map(
              ([name, text, times]) =>
                `<table:table table:name="${name}"><table:table-row table:number-rows-repeated="${times}"><table:table-cell><text:p>${text}</text:p></table:table-cell></table:table-row></table:table>`,
            )
            .join(
              '',
            )}<table:table table:name="Old" table:style-name="off"><table:table-row><table:table-cell><text:p>Hay</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`,
        ),
      },
      'North\nRye\nRye\nRye\n\nSouth\nOats',
    ],
    [
      'a formula and a chart of an OpenDocument text, which are files of their own',
      {
        'content.xml': open(
          '<text:p>At <draw:object xlink:href="./Object 1"/> of it.<draw:object xlink:href="./Object 2"/><text:page-number>7</text:page-number></text:p>',
        ),
        'Object 1/content.xml':
          '<math><semantics><mrow><mfrac><mn>1</mn><mn>12</mn></mfrac><msqrt><mi>x</mi></msqrt></mrow><annotation>{1} over {12}</annotation></semantics></math>',
        'Object 2/content.xml': open(
          '<table:table-row><table:table-cell><text:p>2025</text:p></table:table-cell><table:table-cell><text:p>412</text:p></table:table-cell></table:table-row>',
        ),
      },
      'At 1/12√x of it.\n\n2025\t412',
    ],
    [
      'a book, its chapters in its order',
      {
        'META-INF/container.xml': '<container/>',
        'OEBPS/book.opf':
          '<package><manifest><item id="b" href="Text/two%20b.xhtml"/><item id="a" href="Text/one.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
        'OEBPS/Text/two b.xhtml': '<html><head><title>t</title></head><body><p>Second.</p></body></html>',
        'OEBPS/Text/one.xhtml': '<html><body><h1>One</h1><p>First &amp; last.</p></body></html>',
      },
      'One\nFirst & last.\n\nSecond.',
    ],
  ])('%s', (_, parts, wanted) => expect(officeText(zipped(parts))).toBe(wanted))

  test('an OpenDocument file that is not an archive', () => {
    const body =
      '<office:automatic-styles><style:style style:name="T1"><style:text-properties style:text-position="super 58%"/></style:style></office:automatic-styles><office:master-styles><text:p>Page 1</text:p></office:master-styles><office:body><text:p>The mühle, 10<text:span text:style-name="T1">6</text:span> km.</text:p></office:body>'
    const file = `<?xml version="1.0"?><office:document xmlns:office="o" xmlns:text="t" xmlns:style="s">${body}</office:document>`
    expect(officeText(Buffer.from(file))).toBe('The mühle, 10^6 km.')
  })

  test('a large sheet takes time in proportion', () => {
    const rows = `<row>${'<c><v>1</v></c>'.repeat(10)}</row>`.repeat(5_000)
    const text = officeText(
      zipped({ 'xl/worksheets/sheet1.xml': `<worksheet xmlns="${SPREADSHEET}">${rows}</worksheet>` }),
    )
    expect(text.split('\n')).toHaveLength(5_000)
  })
})

const mail = (type: string, ...lines: string[]): Uint8Array =>
  Buffer.from(
    `From: Ada <ada@example.com>\r\nSubject: =?UTF-8?Q?Die_M=C3=BC?= =?UTF-8?B?aGxl?=\r\nMIME-Version: 1.0\r\nContent-Type: ${type}\r\n${lines.join('\r\n')}`,
    'latin1',
  )
const utf8 = (type: string, ...lines: string[]): Uint8Array =>
  mail(type, Buffer.from(lines.join('\r\n')).toString('latin1'))
const HEAD = 'From: Ada <ada@example.com>\nSubject: Die Mühle\n\n'

describe('the text of a mail', () => {
  test.each<[string, Uint8Array, string]>([
    [
      'in quoted letters beside its page',
      mail(
        'multipart/alternative;\r\n boundary="b 1"',
        ...['', '--b 1', 'Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: quoted-printable', ''],
        ...['The m=C3=BChle was sold in 19=', '02.', '--b 1', 'Content-Type: text/html', '', '<p>hi</p>', '--b 1--'],
      ),
      'The mühle was sold in 1902.',
    ],
    [
      'that is a page only, with a file',
      mail(
        'multipart/mixed; boundary=x',
        ...['', '--x', 'Content-Type: text/html; charset=utf-8', 'Content-Transfer-Encoding: base64', ''],
        ...[Buffer.from('<style>p{}</style><p>It was <b>sold</b>.</p><p>Gone &amp; paid.</p>').toString('base64')],
        ...['--x', 'Content-Type: text/plain; name=a.txt', 'Content-Disposition: attachment', '', 'no', '--x--'],
      ),
      'It was sold.\nGone & paid.\n\nAttachment: a.txt\n\nno',
    ],
    [
      'with a mail and a file attached (parse-emails#106)',
      mail(
        'multipart/mixed; boundary=x',
        ...['', '--x', 'Content-Type: text/plain', '', 'See below'],
        ...['--x', 'Content-Type: message/rfc822', 'Content-Disposition: attachment; filename=old.eml', ''],
        ...['From: Bo <bo@example.com>', 'Subject: Rye', 'Content-Type: text/html', '', '<p>12 <b>crowns</b></p>'],
        ...[
          '--x',
          'Content-Type: image/png',
          "Content-Disposition: attachment; filename*=utf-8''M%C3%BChle.png",
          '',
          'x',
        ],
        '--x--',
      ),
      'See below\n\nAttachment: old.eml\n\nFrom: Bo <bo@example.com>\nSubject: Rye\n\n12 crowns\n\nAttachment: Mühle.png',
    ],
    [
      'in a page of cells',
      mail(
        'text/html; charset=utf-8',
        ...['', '<p style="display:none">Teaser</p><table><tr><td>Rye</td><td>12</td></tr><tr><td>Oats</td>'],
        '<td>7</td></tr></table><p>The\nmill</p>',
      ),
      'Rye\t12\nOats\t7\nThe mill',
    ],
    [
      'in a page of lists and powers, with paragraphs in its cells',
      mail(
        'text/html; charset=utf-8',
        ...['', '<ol type="A"><li>Rye</li><li>Oats</li></ol><ul><li>Hay</li></ul><p>10<sup>6</sup> t</p>'],
        '<table><tr><td><p>Rye</p></td><td><p>12</p><p>net</p></td></tr></table>',
      ),
      'A. Rye\nB. Oats\n- Hay\n10^6 t\nRye\t12 net',
    ],
    [
      'of a saved page, without the files that it needs to look like itself',
      mail(
        'multipart/related; boundary=x',
        ...['', '--x', 'Content-Type: text/html', 'Content-Location: https://mill.example/', '', '<p>Rye</p>'],
        ...['--x', 'Content-Type: text/css', 'Content-Location: cid:css@mhtml.blink', '', 'p { color: red }'],
        ...['--x', 'Content-Type: image/png', 'Content-Location: https://mill.example/a.png', '', 'x', '--x--'],
      ),
      'Rye',
    ],
    [
      'in wrapped lines',
      mail('text/plain', '', 'The new silo of the farm holds 420 tonnes of barley and', 'was paid by the guild.'),
      'The new silo of the farm holds 420 tonnes of barley and was paid by the guild.',
    ],
    [
      'that only says that there is a page',
      mail(
        'multipart/alternative; boundary=x',
        ...['', '--x', 'Content-Type: text/plain', '', 'See the page.'],
        ...['--x', 'Content-Type: text/html', '', `<p>Your order ships on 4 May with the blue van.</p>`, '--x--'],
      ),
      'Your order ships on 4 May with the blue van.',
    ],
    [
      'whose page names the charset itself, with a table in another (mailparser#370)',
      mail(
        'multipart/mixed; boundary=x',
        ...['', '--x', 'Content-Type: text/html', '', '<meta charset="iso-8859-1"><p>K\xf6ln</p>'],
        ...['--x', 'Content-Type: text/csv', 'Content-Disposition: attachment; filename=a.csv', '', 'M\xf6hren;3'],
        '--x--',
      ),
      'Köln\n\nAttachment: a.csv\n\nMöhren;3',
    ],
    ['in an old charset', mail('text/plain; charset=iso-8859-1', '', 'K\xf6ln'), 'Köln'],
    ['in UTF-8 that is declared as ASCII', utf8('text/html; charset=us-ascii', '', '<p>Köln – 9 €</p>'), 'Köln – 9 €'],
    ['in an old charset that is declared as UTF-8', mail('text/plain; charset="utf-8"', '', 'K\xf6ln'), 'Köln'],
    [
      'in a page whose lists and quotations begin below other words',
      mail('text/html', '', 'To buy:<ul><li>Rye</ul>Soon.<blockquote>Or <i>not</i></blockquote>', '<h4>Fee</h4>3'),
      'To buy:\n- Rye\nSoon.\nOr not\nFee\n3',
    ],
    [
      'that could not be delivered',
      mail(
        'multipart/report; boundary=x',
        ...['', '--x', 'Content-Type: text/plain', '', 'Not delivered.'],
        ...['--x', 'Content-Type: message/delivery-status', '', 'Final-Recipient: rfc822; bo@example.com', '--x--'],
      ),
      'Not delivered.\n\nAttachment: message/delivery-status\n\nFinal-Recipient: rfc822; bo@example.com',
    ],
    ['in a charset nobody knows', mail('text/plain; charset=none', '', 'K\xf6ln'), 'Köln'],
  ])('%s', async (_, bytes, text) => expect(await mailText(bytes)).toEqual({ title: 'Die Mühle', text: HEAD + text }))

  test('may begin with a byte order mark', async () => {
    const bytes = Buffer.concat([Buffer.from('\ufeff'), mail('text/plain', '', 'Rye')])
    expect((await mailText(bytes)).text).toBe(`${HEAD}Rye`)
  })

  test('is followed by the text of an attached document, or its name alone when that cannot be read', async () => {
    const bytes = mail(
      'multipart/mixed; boundary=x',
      ...['', '--x', 'Content-Type: application/octet-stream', 'Content-Disposition: attachment; filename=a.pdf'],
      ...['', '%PDF-1.4', '--x--'],
    )
    expect((await mailText(bytes, async () => 'Read.')).text).toBe(`${HEAD}Attachment: a.pdf\n\nRead.`)
    expect((await mailText(bytes, () => Promise.reject(new Error('damaged')))).text).toBe(`${HEAD}Attachment: a.pdf`)
  })

  test('is one of several in an mbox file', async () => {
    const box =
      'From a@b 1 Jan 2024\nSubject: One\n\nRye.\n\n>From here.\n\nFrom c@d 2 Jan 2024\nSubject: Two\n\nOats.\n'
    const mails = await Promise.all(mailsIn(Buffer.from(box)).map((one) => mailText(one)))
    expect(mails.map(({ text }) => text)).toEqual(['Subject: One\n\nRye.\n\nFrom here.', 'Subject: Two\n\nOats.'])
  })

  test('may be broken anywhere', async () => {
    const whole = mail('multipart/mixed; boundary=x', '', '--x', 'Content-Type: multipart/mixed; boundary=x', '', '--x')
    for (let end = 0; end < whole.length; end++) expect((await mailText(whole.subarray(0, end))).text).toBeString()
  })
})

test.each([
  [
    String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}\f0\fs24 Sold in 1902.\par K\'f6ln \u8364? costs \b bold\b0.}`,
    'Sold in 1902.\nKöln € costs bold.',
  ],
  [
    String.raw`{\rtf1\ansicpg1251 \'cc\'e8\'f0{\*\generator Word;}\tab\uc2\u-10179 xx\uc0\u-8704 \{ok\}}`,
    'Мир\t😀{ok}',
  ],
  [String.raw`{\rtf1 open {\pict ffd8`, 'open'],
  [
    String.raw`{\rtf1{\fonttbl{\f0 A;}{\f1\fnil\fcharset204 B;}}\f1\'cc\'e8\'f0\f0  10{\super 6} km{\v gone}.}`,
    'Мир 10^6 km.',
  ],
  [
    String.raw`{\rtf1 Paid{\super 1{\*\footnote\pard\plain Or {\b later}.}} 10{\up8 6} crowns.{\*\annotation{\*\atndate 7}Check it.}\par a1\nestcell b1\nestcell}`,
    'Paid1 10^6 crowns.\na1\tb1\n\nOr later.\n\nCheck it.',
  ],
])('RTF is read as its text: %s', (source, text) => expect(rtfText(Buffer.from(source, 'latin1'))).toBe(text))

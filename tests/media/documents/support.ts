import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readMarkdown } from '../../../src/media/documents/blocks-markdown'
import type { Document } from '../../../src/media/documents/blocks-model'
import type { Format } from '../../../src/media/schema'
import type { Reply, World } from '../../support/world'

/** All that a document may have, in the alphabets that every format must show. */
export const EVERYTHING = `A short introduction with **bold words**, *italics*, ~~gone~~, \`inline code\` and
[a link](https://example.com/page). Ελληνικά, Кириллица, naïve café, “quotes” … → ✓.

## Key points

1. First point with a detail
   - nested entry one
   - nested entry two
2. Second point

### Revenue by quarter

| Quarter | Revenue | Growth | Date | Comment |
|---|--:|--:|---|---|
| Q1 2026 | 1,240,000 | 4.2 % | 2026-03-31 | Strong start |
| Q2 2026 | 1,310,500 | −1.2 % | 2026-06-30 | =SUM(A1:A3) |
| Q3 2026 | 1,295,300 | 16.0 % | 2026-09-30 | @cmd, "quoted" |

\`\`\`chart
type: bar
title: Revenue chart
Quarter,2025,2026
Q1,1190000,1240000
Q2,1239000,1310500
\`\`\`

> A quotation that someone said.

\`\`\`python
def total(rows):
    return sum(row["amount"] for row in rows)
\`\`\`

---

The last words of it.
`

export const documentOf = (markdown: string, more: Partial<Document> = {}): Document => ({
  title: 'Annual Report',
  createdAt: Date.UTC(2026, 10, 22),
  blocks: readMarkdown(markdown),
  images: new Map(),
  ...more,
})

/** The bytes behind the link of a made document. */
export async function download(world: World, { body }: Reply): Promise<{ bytes: Uint8Array; headers: Headers }> {
  const response = await world.download(body.download_url)
  return { bytes: new Uint8Array(await response.arrayBuffer()), headers: response.headers }
}

/** Runs another program on a file with these bytes; its folder is removed afterwards. */
async function withFile<T>(bytes: Uint8Array, name: string, use: (path: string, folder: string) => Promise<T>) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-document-'))
  try {
    const path = join(folder, name)
    await Bun.write(path, bytes)
    return await use(path, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function run(command: string[]): Promise<string> {
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' })
  const [out, failure, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${command[0]}: ${failure}`)
  return out
}

export const hasPdftotext = Bun.which('pdftotext') !== null
export const hasOffice = Bun.which('soffice') !== null

/** The words of a PDF, as poppler reads them. */
export const pdfText = (bytes: Uint8Array): Promise<string> =>
  withFile(bytes, 'it.pdf', (path) => run(['pdftotext', '-layout', path, '-']))

/** What LibreOffice makes of an Office file: the words of its pages, or of its first sheet as CSV. */
export const opened = (bytes: Uint8Array, format: Exclude<Format, 'pdf' | 'csv'>): Promise<string> =>
  withFile(bytes, `it.${format}`, async (path, folder) => {
    // In UTF-8, with cells as they are shown.
    const to = format === 'xlsx' ? 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true' : 'pdf'
    const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`
    await run(['soffice', profile, '--headless', '--norestore', '--convert-to', to, '--outdir', folder, path])
    if (format === 'xlsx') return Bun.file(join(folder, 'it.csv')).text()
    return run(['pdftotext', '-layout', join(folder, 'it.pdf'), '-'])
  })

import { useState } from 'react'
import type { ArtifactPage } from '../../../../../files/schema'
import { deletion } from '../../shell/actions'
import { defineScreen } from '../../shell/screen'
import { column, timeColumn } from '../../ui/columns'
import { Button, Code, CopyButton, Id } from '../../ui/controls'
import { Ago, size, Time } from '../../ui/format'

type File = ArtifactPage['artifacts'][number] & { content?: string | null }

/** The link of a file relative to this page's origin, because the page may load only from there. */
function sourceOf(link: string): string {
  const { pathname, search } = new URL(link, location.origin)
  return pathname + search
}

/** Shows the file if a browser can do so without executing it. Nothing plays automatically. */
function Look({ row: { type, mime_type, url, title, filename } }: { row: File }) {
  const [isShown, setShown] = useState(false)
  if (url === null) return null
  const source = sourceOf(url)
  if (mime_type.startsWith('image/'))
    return <img className="look" src={source} alt={title ?? filename} loading="lazy" />
  if (type === 'video') return <video className="look" src={source} controls preload="none" aria-label={filename} />
  if (type === 'audio') return <audio className="look" src={source} controls preload="none" aria-label={filename} />
  if (mime_type !== 'application/pdf') return null
  // The browser's own viewer has no access to this page. It is slow to start, so it opens on demand.
  if (isShown) return <iframe className="look" src={source} title={title ?? filename} />
  return (
    <div className="actions">
      <Button onClick={() => setShown(true)}>Show the document</Button>
    </div>
  )
}

/** The name, with a thumbnail for pictures. */
const Name = ({ filename, thumbnail_url }: File) => (
  <>
    {thumbnail_url && <img className="thumbnail" src={sourceOf(thumbnail_url)} alt="" loading="lazy" />}
    {filename}
  </>
)

/** The file in a gallery: its picture, or its kind. */
const Tile = ({ filename, title, type, size_bytes, thumbnail_url }: File) => (
  <>
    {thumbnail_url ? (
      <img src={sourceOf(thumbnail_url)} alt="" loading="lazy" />
    ) : (
      <span className="kind" aria-hidden="true">
        {filename.split('.').at(-1)}
      </span>
    )}
    <span>{title ?? filename}</span>
    <small>
      {type}, {size(size_bytes)}
    </small>
  </>
)

const Content = ({ row }: { row: File }) => row.content && <Code text={row.content} label="content" />

const KINDS = ['image', 'video', 'audio', 'document', 'code', 'file'] as const

export default defineScreen<File>('files', 'Files', {
  list: { path: '/artifacts', rows: 'artifacts' },
  views: true,
  tile: Tile,
  columns: [
    column('name', 'Name', { cell: Name, main: true, width: 'minmax(180px, 2fr)' }),
    column('kind', 'Kind', { cell: ({ type }) => type, main: true, width: '112px' }),
    column('size', 'Size', { cell: ({ size_bytes }) => size(size_bytes), main: true, number: true, width: '104px' }),
    timeColumn('made', 'Created', ({ created }) => created),
    column('by', 'By', { cell: ({ model }) => model }),
    column('kept', 'Kept until', {
      cell: ({ expires_at }) => (expires_at ? <Time at={expires_at} only="day" /> : 'you delete it'),
      width: '112px',
    }),
  ],
  filters: [
    { name: 'q', label: 'Name or title' },
    { name: 'kind', label: 'Kind', values: KINDS },
  ],
  empty: {
    text: 'No files yet. Pictures, documents and videos that you ask for appear here.',
    link: { text: 'Try in the playground', section: 'playground' },
  },
  detail: {
    path: (id) => `/artifacts/${id}`,
    titleOf: ({ title, filename }) => title ?? filename,
    look: Look,
    actions: ({ id }, close) => ({
      actions: [
        deletion(`/artifacts/${id}`, 'The file is gone and its links stop working. This cannot be undone.', close),
      ],
    }),
    facts: (file) => ({
      Name: file.filename,
      Id: <Id id={file.id} />,
      Kind: `${file.type}, ${file.mime_type}`,
      Size: size(file.size_bytes),
      Created: <Time at={file.created} />,
      By: `${file.engine} ${file.model}`,
      Request: file.request_id ? <Id id={file.request_id} /> : 'not known',
      Link: file.url && (
        <span className="actions">
          <a className="button quiet" href={sourceOf(file.url)} target="_blank" rel="noreferrer">
            Open
          </a>
          <CopyButton text={file.url} label="Copy link" />
        </span>
      ),
      'The link works until': file.url_expires_at ? <Time at={file.url_expires_at} /> : '–',
      Kept: file.expires_at ? <Ago at={file.expires_at} /> : 'until you delete it',
    }),
    body: Content,
  },
})

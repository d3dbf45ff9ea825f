import { useState } from 'react'
import { Link, useSearch } from 'wouter'
import type { SavedView } from '../../../views-schema'
import { Button } from '../ui/controls'
import { field } from '../ui/fields'
import { Ask, Dialog } from '../ui/overlay'
import { Failed } from '../ui/states'
import { useGet, useMay, useOwner, useSend } from './api'
import { Form, savingOf } from './form'

/** The filters in a fixed order, so that two addresses can be compared. */
function ordered(search: string): string {
  const words = new URLSearchParams(search)
  words.sort()
  return words.toString()
}

/** Saved filters of a section: each is a link. The current one can be deleted. */
export function SavedViews({ section }: { section: string }) {
  const owner = useOwner()
  const may = useMay('manageSkills')
  const query = ordered(useSearch())
  const [asked, setAsked] = useState<'save' | 'delete' | null>(null)
  const read = useGet<{ views: SavedView[] }>('/views', { limit: 100 })
  const views = read.data?.views.filter((view) => view.section === section) ?? []
  const current = views.find((view) => ordered(view.query) === query)
  const remove = useSend<unknown, string>('DELETE', (id) => `/views/${id}`, ['/views'])
  const close = () => setAsked(null)
  const choices = { personal: 'only you', team: `everyone in ${owner.name}` }
  const scope = field('scope', 'For', { kind: 'choice', choices })
  if (!views.length && !(may && query)) return null
  return (
    <nav className="views" aria-label="Saved views">
      {views.map((view) => (
        <Link
          key={view.id}
          href={`/${owner.slug}/${section}${view.query && `?${view.query}`}`}
          aria-current={view === current ? 'page' : undefined}
        >
          {view.name}
        </Link>
      ))}
      {may && query && !current && (
        <Button kind="plain" onClick={() => setAsked('save')}>
          Save as view…
        </Button>
      )}
      {may && current && (
        <Button kind="plain" onClick={() => setAsked('delete')}>
          Delete this view…
        </Button>
      )}
      {asked === 'save' && (
        <Dialog title="Save as view" onClose={close}>
          <Form
            fields={[field('name', 'Name', { required: true }), ...(owner.id ? [scope] : [])]}
            {...savingOf('/views', undefined, 'Save view')}
            more={{ section, query }}
            onCancel={close}
            onDone={close}
          />
        </Dialog>
      )}
      {asked === 'delete' && current && (
        <Ask
          title={`Delete the view “${current.name}”`}
          verb="Delete view"
          danger
          busy={remove.isPending}
          onClose={close}
          onDo={() => remove.mutate(current.id, { onSuccess: close })}
        >
          <p>
            Its name is gone{current.scope === 'team' ? ` for everyone in ${owner.name}` : ''}; what it shows stays.
          </p>
          {remove.error && <Failed problem={remove.error} />}
        </Ask>
      )}
    </nav>
  )
}

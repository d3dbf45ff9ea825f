import { useEffect, useId, useState } from 'react'
import { Dialog as AriaDialog } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { useLocation } from 'wouter'
import type { SearchResults } from '../../../routes-live'
import type { Section } from '../sections'
import { useGet } from './api'
import { boot, type Owner } from './boot'
import { table } from './keys'

/** A debounced value, so that typing does not send a request per letter. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), 250)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}

type Props = { owner: Owner; sections: readonly Section[]; onClose(): void }
type Entry = { label: string; hint: string; run(): void }

/** Everything reachable by name: sections, actions of this screen, other owners. */
export function Palette({ owner, sections, onClose }: Props) {
  const [, navigate] = useLocation()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const id = useId()
  const keys = table.use().filter(({ keys: pressed }) => !pressed.startsWith('g '))
  const all: Entry[] = [
    ...sections.map(({ id: section, title, letter }) => ({
      label: title,
      hint: letter ? `g ${letter}` : '',
      run: () => navigate(section ? `/${owner.slug}/${section}` : `/${owner.slug}`),
    })),
    ...keys.map(({ keys: pressed, label, run }) => ({ label, hint: pressed, run })),
    ...boot.owners
      .filter(({ slug }) => slug !== owner.slug)
      .map(({ slug, name }) => ({ label: `Switch to ${name}`, hint: 'owner', run: () => navigate(`/${slug}`) })),
  ]
  const word = useSettled(text.trim())
  const search = useGet<SearchResults>('/search', { q: word }, { off: word.length < 2 || owner.looksAt !== undefined })
  const rows = word.length < 2 || word !== text.trim() ? [] : (search.data?.results ?? [])
  const words = text.toLowerCase().split(' ')
  const found = [
    ...all.filter(({ label }) => words.every((one) => label.toLowerCase().includes(one))),
    ...rows.map(({ type, id: row, label, section }) => ({
      label: label || row,
      hint: type.replaceAll('_', ' '),
      run: () => navigate(`/${owner.slug}/${section}/${encodeURIComponent(row)}`),
    })),
  ]
  const run = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    // The dialog first returns the focus.
    setTimeout(entry.run)
  }
  return (
    <ModalOverlay className="veil" isOpen isDismissable onOpenChange={(open) => !open && onClose()}>
      <Modal className="dialog palette">
        <AriaDialog aria-label="Search sections and actions">
          <input
            autoFocus
            role="combobox"
            aria-expanded="true"
            aria-controls={id}
            aria-activedescendant={found[at] ? `${id}-${at}` : undefined}
            aria-label="Search sections and actions"
            placeholder="Where to, or what to do?"
            value={text}
            onChange={(event) => {
              setText(event.target.value)
              setAt(0)
            }}
            onKeyDown={(event) => {
              const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
              if (step) {
                event.preventDefault()
                setAt((at + step + found.length) % Math.max(1, found.length))
              } else if (event.key === 'Enter') run(found[at])
            }}
          />
          <ul id={id} role="listbox" aria-label="Found">
            {found.map((entry, index) => (
              <li
                key={`${entry.hint} ${entry.label}`}
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === at}
                onClick={() => run(entry)}
              >
                {entry.label}
                <kbd>{entry.hint}</kbd>
              </li>
            ))}
          </ul>
          {found.length === 0 && <p className="none">Nothing found.</p>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}

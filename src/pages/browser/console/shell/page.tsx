import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react'
import { useOwner } from './api'

/** The tabs of a section that has several, shown under its title. */
export const PageTabs = createContext<ReactNode>(null)

type Props = {
  title: string
  actions?: ReactNode
  isBusy?: boolean
  children: ReactNode
  isFull?: boolean
  /** Prefix of the document's title, such as the number of waiting items. */
  lead?: string
}

/** The title of the page before, and whether the reader has gone from one page to another. */
let [titleBefore, hasMoved] = ['', false]

/** One screen: its title, its actions, and its content. A thin bar runs while data is read again. */
export function Page({ title, actions, isBusy, children, isFull, lead }: Props) {
  const owner = useOwner()
  const tabs = useContext(PageTabs)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = [lead, title, owner.name, 'svc'].filter(Boolean).join(' · ')
  }, [lead, title, owner.name])
  // A page that the reader went to has the focus, so that Tab leads into it and its title is read out.
  useEffect(() => {
    hasMoved ||= titleBefore !== '' && titleBefore !== title
    titleBefore = title
    const from = document.activeElement
    if (hasMoved && (from === document.body || from?.closest('.side'))) heading.current?.focus({ preventScroll: true })
  }, [title])
  return (
    <main id="main" className={isFull ? 'page full' : 'page'} aria-busy={isBusy || undefined}>
      <div className={isBusy ? 'progress runs' : 'progress'} aria-hidden="true" />
      <header className="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {tabs}
      {children}
    </main>
  )
}

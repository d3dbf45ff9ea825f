import { type ComponentType, useEffect } from 'react'
import { Link } from 'wouter'
import type { OperatorRole } from '../../../../kernel/caller'
import { useFilters } from '../ui/filters'
import { useOwner } from './api'
import { mayOperate } from './boot'
import { PageTabs } from './page'

/** `role`: of operators, the only one besides the admin that sees the tab. */
type Tab = { id: string; label: string; screen: ComponentType; role?: OperatorRole }

/** The tab for a word in the address: by its id, else by a word of its label, else the first. */
const tabAt = (tabs: readonly Tab[], word = '') =>
  tabs.find(({ id }) => id === word) ??
  tabs.find(({ label }) => label.toLowerCase().split(' ').includes(word.toLowerCase())) ??
  tabs[0]!

/** A section of several screens. `tab` in the address selects one. The first needs no word. */
export const defineTabs = (section: string, all: readonly Tab[]): ComponentType =>
  function Tabbed() {
    const tabs = all.filter(({ role }) => role === undefined || mayOperate(role))
    const owner = useOwner()
    const { filters } = useFilters()
    const { id, screen: Screen } = tabAt(tabs, filters.tab)
    // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each tab, whose name may be outside a small screen
    useEffect(() => {
      document.querySelector('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest' })
    }, [id])
    const nav = (
      <nav className="tabs" aria-label="Parts of this section">
        {tabs.map((tab, at) => (
          <Link
            key={tab.id}
            href={`/${owner.slug}/${section}${at === 0 ? '' : `?tab=${tab.id}`}`}
            aria-current={tab.id === id ? 'page' : undefined}
          >
            {tab.label}
          </Link>
        ))}
      </nav>
    )
    return (
      <PageTabs value={nav}>
        <Screen key={id} />
      </PageTabs>
    )
  }

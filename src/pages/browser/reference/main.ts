import type { Tried } from '../../reference/service'
import { pageData } from '../shared/dom'
import { playground } from './panel'
import { withTabs } from './samples'

/** Our own pages read without this script, which adds tabs, copying and the form of the playground (dx 5.5). */
withTabs()
const tried = pageData<Tried | null>('tried')
if (tried) document.querySelector('.row')?.before(playground(tried, [...document.querySelectorAll('[role=tabpanel]')]))
document.documentElement.dataset.ready = 'true'

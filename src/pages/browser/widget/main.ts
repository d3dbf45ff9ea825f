/** The chat's own script. It is read beside the page, and does its work when what the page has was painted. */
import { afterPaint } from '../shared/after-paint'
import { startChat } from './chat'

afterPaint(startChat)

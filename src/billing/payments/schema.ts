import { defineId, type Id } from '../../kernel/ids'

export const PurchaseId = defineId('checkout')
export type PurchaseId = Id<'checkout'>

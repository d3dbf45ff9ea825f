import type { ReactNode } from 'react'
import { Dialog as AriaDialog } from 'react-aria-components/Dialog'
import { Heading } from 'react-aria-components/Heading'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'

export type DialogProps = { title: string; onClose(): void; children: ReactNode; wide?: boolean; isAlert?: boolean }

/** Escape or a press outside closes it, except for an alert. */
export const ModalDialog = ({ title, onClose, children, wide, isAlert }: DialogProps) => (
  <ModalOverlay
    className="veil"
    isOpen
    isDismissable={!isAlert}
    isKeyboardDismissDisabled={isAlert ?? false}
    onOpenChange={(open) => !open && onClose()}
  >
    <Modal className={wide ? 'dialog wide' : 'dialog'}>
      <AriaDialog role={isAlert ? 'alertdialog' : 'dialog'}>
        <Heading slot="title" level={2}>
          {title}
        </Heading>
        {children}
      </AriaDialog>
    </Modal>
  </ModalOverlay>
)

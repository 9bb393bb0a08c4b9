;;; hopgate.el --- Messages of hopgate's agents in Emacs  -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "27.1"))
;; Keywords: tools, processes

;;; Commentary:

;; Shows the messages that agents send to a person.  It needs the program
;; hopgate and nothing else:
;;
;;   (load "/path/to/hopgate.el")
;;   (hopgate-start "~/src/my-repository")
;;
;; A message dings and appears in the buffer *hopgate*.  Keys:
;;
;;   C-c h a   answer the last message
;;   C-c h b   ring an agent
;;   C-c h h   ask the sender of the last message to hop
;;   C-c h o   move the sender of the last message to a peripheral, as the operator
;;   C-c h y   show a request and approve it, with the operator's token
;;   C-c h n   refuse a request
;;   C-c h i   show the messages

;;; Code:

(require 'json)
(require 'subr-x)

(defgroup hopgate nil "Messages of agents." :group 'tools)

(defcustom hopgate-command '("hopgate")
  "The program hopgate and its first arguments."
  :type '(repeat string))

(defcustom hopgate-person "operator"
  "The name of the person whose inbox is shown."
  :type 'string)

(defcustom hopgate-token-file nil
  "The file of the operator's token; nil means the one in the state folder.
Approvals are refused if the file cannot be read."
  :type '(choice (const nil) file))

(defvar hopgate-messages nil "The messages that were shown, the newest first.")
(defvar hopgate-message-functions nil "Functions that are called with each new message, an alist.")
(defvar hopgate--process nil)
(defvar hopgate--root nil)
(defvar hopgate--rest "")
(defvar hopgate--problem "" "The output of the inbox that is not a message.")
(defvar hopgate--seen (make-hash-table :test 'equal))

(defun hopgate--arguments (command &rest arguments)
  "The command line of COMMAND with ARGUMENTS for the present repository."
  (append hopgate-command (list command "--root" hopgate--root) (remq nil arguments)))

;;;###autoload
(defun hopgate-start (root)
  "Show the messages of the repository ROOT."
  (interactive "DRepository: ")
  (hopgate-stop)
  (setq hopgate--root (expand-file-name root) hopgate--rest "" hopgate--problem "")
  (hopgate-mode 1)
  (setq hopgate--process
        (make-process
         :name "hopgate" :noquery t :connection-type 'pipe :coding 'utf-8-unix
         :command (hopgate--arguments "inbox" "--as" hopgate-person "--follow" "--keep" "--json")
         :filter #'hopgate--filter
         :sentinel #'hopgate--sentinel)))

(defun hopgate-stop ()
  "Stop showing messages."
  (interactive)
  (let ((process hopgate--process))
    (setq hopgate--process nil)
    (when (process-live-p process) (delete-process process))))

(defun hopgate--sentinel (process event)
  "Say by which EVENT PROCESS ended and what to do, unless `hopgate-stop' ended it."
  (when (and (eq process hopgate--process) (not (process-live-p process)))
    (setq hopgate--process nil)
    (let ((line (format "hopgate: the inbox ended (%s); M-x hopgate-start shows messages again. %s"
                        (string-trim event) (hopgate--problem-text))))
      (hopgate--insert line)
      (message "%s" line))))

(defun hopgate--problem-text ()
  "The message and the remedy of an error of the inbox."
  (condition-case nil
      (let ((problem (alist-get 'error (json-parse-string hopgate--problem :object-type 'alist))))
        (concat (alist-get 'message problem) ". " (alist-get 'remedy problem)))
    (error (string-trim hopgate--problem))))

(defun hopgate--filter (_process output)
  "Read the complete JSON lines of OUTPUT; keep the rest for later."
  (let ((lines (split-string (concat hopgate--rest output) "\n")))
    (setq hopgate--rest (car (last lines)))
    (dolist (line (butlast lines))
      (unless (string-empty-p line)
        (condition-case problem
            (hopgate--receive (json-parse-string line :object-type 'alist :null-object nil))
          (json-error (setq hopgate--problem (concat hopgate--problem line "\n")))
          (error (message "hopgate: cannot read a line: %s" (error-message-string problem))))))))

(defun hopgate--visible (text)
  "TEXT with its control, bidirectional and other invisible characters escaped."
  (replace-regexp-in-string
   "[[:cntrl:]\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
   (lambda (char) (format "\\\\u{%x}" (string-to-char char)))
   text))

(defun hopgate--receive (message)
  "Show MESSAGE, unless it was shown before, and acknowledge it."
  (let ((id (alist-get 'id message)))
    (unless (gethash id hopgate--seen)
      (puthash id t hopgate--seen)
      (push message hopgate-messages)
      (hopgate--insert (concat (alist-get 'sentAt message) " " (hopgate--line message)))
      (ding t)
      (message "%s" (hopgate--line message))
      (hopgate--run #'ignore "inbox" "--as" hopgate-person "--ack" id)
      (run-hook-with-args 'hopgate-message-functions message))))

(defun hopgate--source (message)
  "The source of MESSAGE: agent:<id> for an agent, and the name of a person."
  (let ((from (alist-get 'from message)))
    (if (string-prefix-p "session:" from)
        (concat "agent:" (alist-get 'author message))
      (string-remove-prefix "person:" from))))

(defun hopgate--line (message)
  "One line about MESSAGE.  The source comes from its envelope."
  (format "[%s from %s, %s] %s"
          (alist-get 'kind message)
          (hopgate--visible (hopgate--source message))
          (alist-get 'act message)
          (hopgate--visible (alist-get 'text message))))

(defun hopgate--insert (line)
  "Add LINE to the buffer *hopgate*."
  (with-current-buffer (get-buffer-create "*hopgate*")
    (unless (derived-mode-p 'special-mode) (special-mode))
    (let ((inhibit-read-only t))
      (save-excursion
        (goto-char (point-max))
        (insert line "\n")))))

(defun hopgate--run (done command &rest arguments)
  "Run COMMAND with ARGUMENTS; call DONE with its output if it succeeds."
  (let ((output ""))
    (make-process
     :name (concat "hopgate " command) :noquery t :connection-type 'pipe
     :command (apply #'hopgate--arguments command arguments)
     :filter (lambda (_ text) (setq output (concat output text)))
     :sentinel (lambda (process _)
                 (unless (process-live-p process)
                   (if (zerop (process-exit-status process))
                       (funcall done (string-trim output))
                     (message "hopgate: %s" (string-trim output))))))))

(defun hopgate--say (text) "Show TEXT in the echo area." (message "hopgate: %s" text))

(defun hopgate--last ()
  "The newest message; an error if there is none."
  (or (car hopgate-messages) (user-error "There is no message")))

(defun hopgate--read (message &rest questions)
  "Read an answer to each of QUESTIONS; return the answers, then MESSAGE.
A message that arrives meanwhile does not replace MESSAGE."
  (append (mapcar (lambda (question) (apply #'read-string question)) questions) (list message)))

(defun hopgate-answer (text &optional message)
  "Answer MESSAGE, by default the newest one, with TEXT."
  (interactive
   (let ((last (hopgate--last)))
     (hopgate--read last (list (format "Answer %s: " (hopgate--visible (hopgate--source last)))))))
  (let ((message (or message (hopgate--last))))
    (hopgate--run #'hopgate--say "bell" "--as" hopgate-person "--act" "answer"
                  "--ref" (alist-get 'id message) "--" (alist-get 'from message) text)))

(defun hopgate-bell (to text)
  "Send TEXT to the address TO."
  (interactive "sTo (agent:<id>): \nsMessage: ")
  (hopgate--run #'hopgate--say "bell" "--as" hopgate-person "--" to text))

(defun hopgate-ask-to-hop (peripheral reason &optional message)
  "Ask the sender of MESSAGE to hop to PERIPHERAL because of REASON.
MESSAGE is the newest one by default.  The agent hops itself, through the gate."
  (interactive (hopgate--read (hopgate--last) '("Hop to: ") '("Reason: ")))
  (hopgate--run #'hopgate--say "bell" "--as" hopgate-person "--act" "request" "--"
                (alist-get 'from (or message (hopgate--last)))
                (format "Please hop to %s: %s" peripheral reason)))

(defun hopgate-move (peripheral exit reason &optional message)
  "Move the session of MESSAGE to PERIPHERAL by EXIT because of REASON.
MESSAGE is the newest one by default.  This is the operator's own act; the gate
judges it."
  (interactive (hopgate--read (hopgate--last) '("Move to: ") '("Exit: " "user-request") '("Reason: ")))
  (hopgate--run #'hopgate--say "hop" "--exit" exit "--reason" reason "--"
                (string-remove-prefix "session:" (alist-get 'from (or message (hopgate--last)))) peripheral))

(defun hopgate--verdict (id verdict)
  "Answer the approval request ID with VERDICT, by the operator's token."
  (when (and hopgate-token-file (not (file-readable-p hopgate-token-file)))
    (user-error "The operator's token %s cannot be read" hopgate-token-file))
  (apply #'hopgate--run #'hopgate--say "approve"
         (append (when hopgate-token-file (list "--token-file" (expand-file-name hopgate-token-file)))
                 (list verdict "--" id))))

(defun hopgate--show-request (id)
  "Show the request ID in the buffer *hopgate request*."
  (with-current-buffer (get-buffer-create "*hopgate request*")
    (unless (derived-mode-p 'special-mode) (special-mode))
    (let ((inhibit-read-only t) (command (hopgate--arguments "approve" "--" id)))
      (erase-buffer)
      ;; Without a terminal and a verdict, the program prints the request and does not answer it.
      (apply #'call-process (car command) nil (list t nil) nil (cdr command))
      (when (= (point-min) (point-max)) (user-error "No request %s waits for an answer" id))
      (goto-char (point-min))
      (display-buffer (current-buffer)))))

(defun hopgate-approve (id)
  "Approve the request ID, after showing it."
  (interactive "sApprove request: ")
  (unless noninteractive (hopgate--show-request id))
  (when (or noninteractive (yes-or-no-p (format "Approve %s as the operator? " id)))
    (hopgate--verdict id "--yes")))

(defun hopgate-refuse (id)
  "Refuse the request ID."
  (interactive "sRefuse request: ")
  (hopgate--verdict id "--no"))

(defun hopgate-show ()
  "Show the messages."
  (interactive)
  (pop-to-buffer (get-buffer-create "*hopgate*")))

(defvar hopgate-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c h a") #'hopgate-answer)
    (define-key map (kbd "C-c h b") #'hopgate-bell)
    (define-key map (kbd "C-c h h") #'hopgate-ask-to-hop)
    (define-key map (kbd "C-c h o") #'hopgate-move)
    (define-key map (kbd "C-c h y") #'hopgate-approve)
    (define-key map (kbd "C-c h n") #'hopgate-refuse)
    (define-key map (kbd "C-c h i") #'hopgate-show)
    map)
  "Keys of `hopgate-mode'.")

;;;###autoload
(define-minor-mode hopgate-mode "Keys for the messages of agents." :global t :keymap hopgate-mode-map)

(provide 'hopgate)
;;; hopgate.el ends here

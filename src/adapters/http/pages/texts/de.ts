import { PASSWORD_MAX_BYTES, PASSWORD_MIN_CODE_POINTS } from '../../../../domain/password.ts';
import type { PageTextsOfLanguage } from './texts.ts';

const LOG_IN = 'Sie können diese Seite schließen und sich anmelden.';
const CLOSE = 'Sie können diese Seite schließen.';

export const DE: PageTextsOfLanguage = {
  pages: {
    'password-reset': {
      title: 'Neues Passwort festlegen',
      lead: 'Ein neues Passwort beendet alle Sitzungen des Kontos: Alle Geräte müssen sich neu anmelden.',
      button: 'Passwort festlegen',
      done: `Das Passwort ist geändert. ${LOG_IN}`,
      without: {
        button: 'Link senden',
        done: 'Wenn es zu dieser Adresse ein Konto gibt, ist eine E-Mail mit einem Link unterwegs.',
      },
      afterwards: 'Sie können hier einen weiteren Link anfordern.',
    },
    'email-verification': {
      title: 'E-Mail-Adresse bestätigen',
      lead: 'Sie bestätigen, dass das Konto und die Adresse Ihnen gehören. Wenn dieser Browser nicht angemeldet ist, werden Passkeys, Authenticator-Apps und Sitzungen entfernt, die das Konto bisher hat, weil jemand anderes sie hinzugefügt haben könnte.',
      button: 'Bestätigen',
      done: `Die Adresse ist bestätigt. ${LOG_IN}`,
      without: {
        button: 'Weiteren Link senden',
        done: 'Wenn es zu dieser Adresse ein Konto gibt, das noch nicht bestätigt ist, ist eine E-Mail mit einem Link unterwegs.',
      },
      afterwards:
        'Wenn Sie die Adresse schon bestätigt haben, können Sie sich anmelden. Wenn nicht, fordern Sie hier einen weiteren Link an.',
    },
    'not-me': {
      title: 'Sie haben sich nicht registriert?',
      lead: 'Jemand hat mit Ihrer Adresse ein Konto registriert. Sie können es entfernen. Sonst passiert nichts.',
      button: 'Konto entfernen',
      done: `Das Konto ist entfernt. ${CLOSE}`,
      afterwards: `Wenn Sie ihn schon verwendet haben, ist das Konto entfernt. ${CLOSE}`,
    },
    'email-change': {
      title: 'Neue E-Mail-Adresse bestätigen',
      lead: 'Danach hat das Konto diese Adresse, und Nachrichten dazu kommen hier an. Wenn es nicht Ihr Konto ist, schließen Sie diese Seite.',
      button: 'Bestätigen',
      done: `Das Konto hat jetzt die neue Adresse. ${CLOSE}`,
      afterwards:
        'Wenn Sie ihn schon verwendet haben, ist die Adresse geändert. Wenn nicht, melden Sie sich an und ändern Sie sie noch einmal.',
    },
    'email-change-undo': {
      title: 'E-Mail-Adresse wiederherstellen',
      lead: 'Das Konto bekommt seine frühere Adresse zurück, und alle Sitzungen enden. Passkeys und Authenticator-Apps, die in der Woche vor der Änderung oder seitdem hinzugefügt wurden, werden entfernt. Sie bekommen eine E-Mail, um ein neues Passwort festzulegen.',
      button: 'Adresse wiederherstellen',
      done: 'Die Adresse ist wiederhergestellt, und alle Sitzungen sind beendet. Legen Sie mit dem Link in der nächsten E-Mail ein neues Passwort fest.',
      afterwards: `Wenn Sie ihn schon verwendet haben, ist die Adresse wiederhergestellt. ${CLOSE}`,
    },
    'factors-undo': {
      title: 'Änderungen Ihres Kontos rückgängig machen',
      lead: 'Passkeys und Authenticator-Apps, die seit der Änderung hinzugefügt wurden, werden entfernt, das Passwort gilt nicht mehr, und alle Sitzungen enden. Sie bekommen eine E-Mail, um ein neues Passwort festzulegen.',
      button: 'Rückgängig machen',
      done: 'Die Änderungen sind rückgängig gemacht, und alle Sitzungen sind beendet. Legen Sie mit dem Link in der nächsten E-Mail ein neues Passwort fest.',
      afterwards: `Wenn Sie ihn oder einen ähnlichen schon verwendet haben, sind die Änderungen rückgängig gemacht. ${CLOSE}`,
    },
  },
  labels: { email: 'E-Mail-Adresse', newPassword: 'Neues Passwort', password: 'Passwort des Kontos' },
  rules: {
    newPassword: `Mindestens ${PASSWORD_MIN_CODE_POINTS} Zeichen, höchstens ${PASSWORD_MAX_BYTES} Bytes (UTF-8). Alle Zeichen, auch Leerzeichen. Kein verbreitetes Passwort und weder Ihr Benutzername noch Ihre E-Mail-Adresse.`,
  },
  showPassword: 'Passwort anzeigen',
  emailChange: [
    'Das Konto ist {username}, registriert am {createdAt}.',
    'Wenn Sie bestätigen, kann eine frühere Adresse das Konto noch bis zum {undoUntil} zurückholen.',
  ],
  noScript:
    'Diese Seite braucht JavaScript: Der Link enthält ein Token, das niemandem gesendet wird, bevor Sie zustimmen.',
  notLoaded: 'Das Skript dieser Seite wurde nicht geladen. Öffnen Sie den Link in der E-Mail noch einmal.',
  continueTo: 'Weiter zu {brand}',
  script: {
    wait: 'Bitte warten …',
    correct: 'Bitte korrigieren Sie das Feld.',
    noToken:
      'Diese Seite wird über den Link in einer E-Mail geöffnet. Die Adresse, die Sie geöffnet haben, ist nicht vollständig: Öffnen Sie den Link noch einmal.',
    incomplete: 'Der Link ist nicht vollständig.',
    tryAgain: 'Versuchen Sie es in {seconds} Sekunden noch einmal.',
    errors: {
      AUTH_LINK_INVALID: 'Der Link ist nicht gültig.',
      AUTH_USER_DUPLICATE: 'Diese Adresse gehört zu einem anderen Konto.',
      AUTH_STEP_UP_REQUIRED:
        'Das Konto hat einen zweiten Faktor: Melden Sie sich zuerst damit an, und öffnen Sie den Link dann noch einmal.',
      CLIENT_REQUEST_RATE_LIMIT_EXCEEDED: 'Zu viele Anfragen.',
      CLIENT_NETWORK_FAILED: 'Keine Antwort. Prüfen Sie Ihre Verbindung, und versuchen Sie es noch einmal.',
      other: 'Das hat nicht funktioniert. Bitte versuchen Sie es später noch einmal.',
    },
    fields: {
      email: { other: 'Bitte geben Sie eine E-Mail-Adresse ein' },
      newPassword: {
        too_short: `Das Passwort muss mindestens ${PASSWORD_MIN_CODE_POINTS} Zeichen haben`,
        too_long: `Das Passwort darf höchstens ${PASSWORD_MAX_BYTES} Bytes (UTF-8) haben`,
        too_common:
          'Bitte nehmen Sie kein verbreitetes Passwort, nicht Ihren Benutzernamen und nicht Ihre E-Mail-Adresse oder deren Teil vor dem @',
        other: 'Bitte wählen Sie ein anderes Passwort',
      },
      password: { too_short: 'Bitte geben Sie das Passwort ein', other: 'Das ist nicht das Passwort des Kontos' },
    },
  },
  failure: {
    title: 'Das hat nicht funktioniert',
    advice: 'Bitte öffnen Sie die Seite gleich noch einmal.',
    code: 'Code',
    requestId: 'Kennung der Anfrage',
  },
};

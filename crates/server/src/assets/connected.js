"use strict";
// A window that was opened for this closes by itself once the account is connected.
if (document.title.startsWith("Connected") && window.opener) window.close();

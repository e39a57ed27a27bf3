"""The kinds of the group admissionregistration."""
